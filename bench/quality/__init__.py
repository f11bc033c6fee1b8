"""Quality of condensing on real transcripts: what is kept, what is lost, what is made up.

`python -m bench.quality` starts the real server, sends it every batch of every transcript, and prints a table with
a row for each harness and one for all. The figures and what to reach are those of evaluation.md, 'Quality'. The
exit code is 1 when a hard figure is broken: recovery, ref correctness, growth, fabrication, stability.
"""
