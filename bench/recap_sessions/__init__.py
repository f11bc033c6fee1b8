"""What sessions with armed timers cost a process that nothing happens in (recap.md)."""
