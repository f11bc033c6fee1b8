"""Ids, lifecycle, cancellation, deadlines, ordering, errors. Knows no domain and no descriptor."""
