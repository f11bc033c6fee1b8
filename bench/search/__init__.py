"""Search over many traces, compared in one run with a plain scan and a plain full-text query (evaluation.md)."""
