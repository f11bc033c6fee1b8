"""`afterturn schema`: the protocol of the running version, from the types themselves."""

import argparse
import sys

from afterturn.schema import meta_text, schema_text


def run(options: argparse.Namespace) -> int:
    """Print schema.json, or meta.json with `--meta`."""
    sys.stdout.write(meta_text() if options.meta else schema_text())
    return 0
