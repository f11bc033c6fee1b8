"""Child processes that do what this one must not: import something big, print, hang, crash (models.md)."""
