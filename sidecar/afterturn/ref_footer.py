"""The words of the footer that lists the refs of a summary (seed per-bullet-summary-refs; the format is the seed's, to
the byte). Condense writes it; capture knows by it what this program has written.
"""

RULE = "---"
LEAD = "**Summarized tool refs**: "
ENDING = "with these refs to retrieve the original full outputs."
