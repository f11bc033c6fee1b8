"""The classes of calls are what the protocol's table says, and importing the client stays cheap."""

import subprocess
import sys
from pathlib import Path

import afterturn_client

ROOT = Path(__file__).parents[3]


def test_the_committed_calls_are_what_the_table_says() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "clients" / "python" / "generate.py")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_everything_public_is_there_and_sorted() -> None:
    assert afterturn_client.__all__ == sorted(afterturn_client.__all__)
    assert all(hasattr(afterturn_client, name) for name in afterturn_client.__all__)


def test_importing_the_client_loads_no_server() -> None:
    code = "import afterturn_client, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    servers = {name for name in loaded if name.startswith("afterturn.") and not name.startswith("afterturn.wire")}
    assert servers == {"afterturn.misfits"}
    assert not {"litellm", "numpy", "pygls", "sqlite3"} & set(loaded)
