"""A project, and the store of a harness that has worked in it."""

from pathlib import Path

import pytest

from tests.editor.archive import work


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    work(home, project)
    return project
