"""A project with an archived session, and Neovim on a file that has refs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.neovim.harness import work
from tests.hosts.neovim.neovim import NEWEST, Neovim

NOTES = """\
# Notes

The redirect is in `t1`, the tests fail in t2 (see t1..t2).

```
t1 = 4
```

"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "notes.md").write_text(NOTES, "utf-8")
    work(home, project)
    return project


@pytest.fixture
def neovim(request: pytest.FixtureRequest, tmp_path: Path, project: Path, home: Path) -> Iterator[Neovim]:
    """Neovim on the notes, with the server running; nothing may have gone wrong in it. Its param: whose package."""
    package: str = getattr(request, "param", NEWEST)
    folder = tmp_path / "nvim"
    folder.mkdir()
    with Neovim(folder, home, str(project / "notes.md"), package=package) as neovim:
        neovim.attached()
        yield neovim
        if neovim.process.poll() is None:
            assert "Error" not in neovim.messages()
            assert "E5108" not in neovim.messages()
