"""`python -m bench.quality [--harness NAME] [--json FILE] [--findings]`."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from .batches import sessions
from .facts import LABELS, hand_labelled
from .figures import total
from .jobs import jobs_table
from .measure import Measurement
from .report import as_json, table
from .server import Server


def main(arguments: list[str] | None = None) -> int:
    """0 when all is well or there are no transcripts, 1 when a hard figure is broken."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("--harness", help="only this one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures and findings there; - for stdout")
    parser.add_argument("--findings", action="store_true", help="print what was lost or wrong, one JSON line each")
    chosen = parser.parse_args(arguments)
    found = list(sessions(chosen.harness))
    if not found:
        sys.stderr.write("no transcripts found; set AFTERTURN_TRANSCRIPTS to their folder\n")
        return 0
    labelled = {name: hand_labelled(file) for name, file in LABELS.items()}
    measurement = Measurement(labelled)
    with tempfile.TemporaryDirectory(prefix="afterturn-bench-") as folder:
        server = Server(Path(folder) / "one")
        measurement.run(server, found)
        measurement.after_restart(server)
        server.close()
        other = Server(Path(folder) / "two")
        measurement.elsewhere(other)
        other.close()
        jobs = jobs_table(Path(folder), chosen.harness)
    parts = list(measurement.figures.values())
    whole = total(parts)
    if chosen.json is None or str(chosen.json) != "-":
        sys.stdout.write(f"{table(parts, whole)}\n{jobs}")
    if chosen.json is not None:
        text = json.dumps(as_json(parts, whole), ensure_ascii=False, indent=1) + "\n"
        sys.stdout.write(text) if str(chosen.json) == "-" else chosen.json.write_text(text, encoding="utf-8")
    if chosen.findings:
        for figures in parts:
            for finding in figures.findings:
                sys.stdout.write(json.dumps(finding, ensure_ascii=False) + "\n")
    if whole.broken:
        sys.stderr.write(f"broken: {', '.join(whole.broken)}\n")
    return 1 if whole.broken else 0


if __name__ == "__main__":
    sys.exit(main())
