"""Finished sessions of other harnesses, run through the real methods (clients.md, 'Harness importers')."""
