"""`pip install` of the wheel alone gives a server, a client and the schema, wherever it is run from."""

import json
import zipfile
from pathlib import Path

from tests.e2e.server import Server
from tests.hosts.wheel.conftest import ROOT, Installed

SOURCES = {
    "afterturn": ROOT / "sidecar" / "afterturn",
    "afterturn_protocol": ROOT / "protocol" / "afterturn_protocol",
    "afterturn_client": ROOT / "clients" / "python" / "afterturn_client",
}

CLIENT = """
import asyncio
from afterturn_client import Afterturn
from afterturn_client.sync import Afterturn as Blocking
from afterturn_protocol.condense import Batch, SummarizeParams, ToolCall

call = ToolCall(tool_call_id="c", tool_name="bash", args={"command": "make"}, result_text="a line of output\\n" * 200)
params = SummarizeParams(session_id="s", batch=Batch(turn_index=0, timestamp=1, tool_calls=[call]))

async def main(start):
    async with start() as client:
        print((await client.condense.summarize(params)).outcome)

asyncio.run(main(Afterturn.start))
asyncio.run(main(Afterturn.in_process))
with Blocking.start() as client:
    print(client.afterturn.status().version)
"""


def test_it_holds_all_three_packages_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    tops = {name.partition("/")[0] for name in names}
    assert tops == SOURCES.keys()
    for package, folder in SOURCES.items():
        missing = {
            f"{package}/{path.relative_to(folder)}"
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        } - names
        assert missing == set()
        assert f"{package}/py.typed" in names
    assert not any("pyc" in name for name in names)


def test_the_server_answers(installed: Installed) -> None:
    for command in ([installed.program, "--stdio"], [installed.python, "-I", "-m", "afterturn", "--stdio"]):
        home = installed.environ["AFTERTURN_HOME"]
        with Server(home, command=command, env=installed.environ, cwd=installed.folder) as server:
            assert server.initialize()["serverInfo"]["name"] == "afterturn"
            assert server.call("afterturn/status")["process"]["loadedModules"] == []
            server.close_stdin()
            assert server.wait_exit() == 0
            assert server.stderr == ""


def test_what_lies_in_the_folder_is_not_imported(installed: Installed) -> None:
    (installed.folder / "msgspec.py").write_text("raise SystemExit('imported from the folder')")
    try:
        assert json.loads(installed.run(installed.program, "schema"))["$defs"]
    finally:
        (installed.folder / "msgspec.py").unlink()


def test_the_client_talks(installed: Installed) -> None:
    version = installed.run(installed.program, "--version").split()[1]
    assert installed.run(installed.python, "-I", "-c", CLIENT).split() == ["summarized", "summarized", version]


def test_the_schema_is_the_one_of_the_spec(installed: Installed) -> None:
    assert installed.run(installed.program, "schema") == (ROOT / "spec" / "schema.json").read_text("utf-8")
    assert installed.run(installed.program, "schema", "--meta") == (ROOT / "spec" / "meta.json").read_text("utf-8")


def test_it_is_compiled_once_installed(installed: Installed) -> None:
    """pip compiles what it installs. Where an installer does not, the first run does, as far as it may write there."""
    sources = [path for package in SOURCES for path in (installed.packages / package).rglob("*.py")]
    assert len(sources) > 200
    missing = [path for path in sources if not list((path.parent / "__pycache__").glob(f"{path.stem}.cpython-*.pyc"))]
    assert missing == []


def test_the_demo_has_its_data_with_it(installed: Installed) -> None:
    assert "refs" in installed.run(installed.program, "demo")
