"""The programs of the client's README run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from afterturn import __version__

README = Path(__file__).parents[3] / "clients" / "python" / "README.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("program", "last"), list(zip(PROGRAMS, ["True", __version__], strict=True)))
def test_it_runs(program: str, last: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == last
