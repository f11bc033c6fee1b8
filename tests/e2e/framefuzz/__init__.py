"""A structure-aware, seeded fuzzer of the wire: `shots` makes frames and knows what must come back, `driver` checks it.

`python -m tests.e2e.framefuzz --frames 1000000 --seed 7` runs it long.
"""
