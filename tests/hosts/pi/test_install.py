"""The folder is all that pi needs: installed by its path, and as the package that npm would publish."""

import tarfile
from pathlib import Path

from tests.hosts.pi.host import EXTENSION, Home
from tests.hosts.pi.rpc import until
from tests.hosts.pi.script import unhurried
from tests.hosts.pi.store import traces
from tests.provider.server import ScriptedProvider


def run(home: Home, *args: str) -> str:
    done = home.run(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def install_and_use(home: Home, provider: ScriptedProvider, folder: Path) -> None:
    provider.otherwise = unhurried(home)
    pi = home.command(extension=False)
    program = pi[: pi.index("--provider")]
    run(home, *program, "install", str(folder))
    assert run(home, *pi, "-p", "hello") == "Did all of: hello\n"
    # pi does not wait for a sidecar that takes longer than a moment to write it down.
    (trace,) = until(lambda: traces(home), "a trace")
    assert trace["userText"] == "hello"


def test_pi_install_takes_the_folder(home: Home, provider: ScriptedProvider) -> None:
    install_and_use(home, provider, EXTENSION)


def test_pi_install_takes_the_published_package(home: Home, provider: ScriptedProvider, tmp_path: Path) -> None:
    packed = run(
        home, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(tmp_path), str(EXTENSION)
    )
    with tarfile.open(tmp_path / packed.strip()) as archive:
        files = {member.name for member in archive.getmembers()}
        archive.extractall(tmp_path, filter="data")
    assert files == {f"package/{name}" for name in ("dist/afterturn.cjs", "package.json", "README.md", "LICENSE")}
    install_and_use(home, provider, tmp_path / "package")
