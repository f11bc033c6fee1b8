"""How the measured processes are told what to do: a line of JSON in, a line of JSON out."""

import json
import sys
from collections.abc import Iterator
from typing import Any

MESSAGES = [("system", "Be brief."), ("user", "What happened? " * 200)]
MAX_TOKENS = 200


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def asked() -> Iterator[dict[str, Any]]:
    """What is asked until the asker ends."""
    for line in sys.stdin:
        yield json.loads(line)


def base_of(url: str, model: str) -> str:
    """The `apiBase` of the scripted provider for this model's format."""
    return url if model.startswith("anthropic/") else f"{url}/v1"
