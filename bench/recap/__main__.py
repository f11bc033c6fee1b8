"""`python -m bench.recap [--harness NAME] [--show]`: how good recaps are, and how long their input takes to build."""

import argparse
import sys

from .made import recaps


def main(arguments: list[str] | None = None) -> int:
    """0 when every recap is within its size, names its task and claims nothing unshown."""
    parser = argparse.ArgumentParser(prog="python -m bench.recap", description=__doc__)
    parser.add_argument("--harness", help="only this one")
    parser.add_argument("--show", action="store_true", help="print every recap")
    chosen = parser.parse_args(arguments)
    made = list(recaps(chosen.harness))
    if not made:
        sys.stderr.write("no transcripts found; set AFTERTURN_TRANSCRIPTS to their folder\n")
        return 0
    bad = [each for each in made if each.problems]
    for each in made if chosen.show else bad:
        mark = f"  !! {'; '.join(each.problems)}" if each.problems else ""
        sys.stdout.write(f"{each.where}{mark}\n    {each.text}\n")
    sizes = sorted(len(each.text) for each in made)
    times = sorted(each.ms for each in made)
    sys.stdout.write(
        f"recaps {len(made)}  bad {len(bad)}  chars median {sizes[len(sizes) // 2]} max {sizes[-1]}"
        f"  prompt max {max(each.prompt_chars for each in made)}"
        f"  ms median {times[len(times) // 2]:.1f} max {times[-1]:.1f}\n"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
