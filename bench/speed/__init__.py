"""Speed beside peers, in one run. `python -m bench.speed`."""
