"""Reads the guide for authors of harnesses: its blocks, and its ellipses."""

import json
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "harness-guide.md"
FILLER = "".join(f"checking module {n:2} .. ok\n" for n in range(60))
"""What an ellipsis stands for in what is sent: 1,500 characters, which the guide's figures count."""

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    """The guide's code blocks of one kind, in order."""
    return [text for name, text in _BLOCK.findall(GUIDE.read_text("utf-8")) if name == kind]


def conversations() -> list[list[str]]:
    """The lines of all frames, cut where a server is started."""
    found: list[list[str]] = []
    for line in "".join(blocks("frames")).splitlines():
        if line.startswith("$ "):
            found.append([])
        found[-1].append(line)
    return found


def filled(line: str) -> Any:
    """A frame that is sent, whole."""
    return json.loads(line.replace("…", json.dumps(FILLER)[1:-1]))


def misfit(shown: Any, came: Any, at: str = "$") -> str | None:
    """Where `came` is not what the guide shows; None where it fits."""
    if isinstance(shown, dict) and isinstance(came, dict):
        pairs = [(f"{at}.{key}", value, came.get(key, "(missing)")) for key, value in shown.items()]
    elif isinstance(shown, list) and isinstance(came, list) and len(shown) == len(came):
        pairs = [(f"{at}[{n}]", value, came[n]) for n, value in enumerate(shown)]
    elif isinstance(shown, str) and isinstance(came, str):
        pattern = ".*".join(re.escape(part) for part in shown.split("…"))
        return None if re.fullmatch(pattern, came, re.DOTALL) else f"{at}: {came!r} is not {shown!r}"
    else:
        return None if shown == came and type(shown) is type(came) else f"{at}: {came!r} is not {shown!r}"
    return next((problem for place, part, value in pairs if (problem := misfit(part, value, place))), None)
