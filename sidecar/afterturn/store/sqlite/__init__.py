"""The embedded backend: one SQLite file that every sidecar of the user shares (store.md).

`engine` is the machinery: one writer thread that commits what is waiting as one group, reader threads beside it,
and a housekeeper for checkpoints. The rest is one noun a file; each hands the engine plain functions that get a
connection. `sqlite3` itself is imported by the engine's threads when the store is first used, never before.
"""
