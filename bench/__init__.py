"""Measurements: quality on real transcripts, speed against peers. May import afterturn, never the other way."""
