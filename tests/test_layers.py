"""What the code's structure must never become (ARCHITECTURE.md, the invariants)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "sidecar").rglob("*.py"), *(ROOT / "protocol").rglob("*.py")])


@pytest.mark.req("invariant.imports")
def test_the_layers_import_only_what_they_may() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def mutable_state(source: str) -> list[str]:
    """Module-level names bound to something mutable that are not constants by name, and `global` statements."""
    tree = ast.parse(source)
    found = [f"global {', '.join(node.names)}" for node in ast.walk(tree) if isinstance(node, ast.Global)]
    makers = {"list", "dict", "set", "defaultdict", "OrderedDict", "Counter", "deque", "WeakKeyDictionary"}
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in makers
        if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp) or called:
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            found += [
                name for name in names if not name.strip("_").isupper() and name != "__all__" and not name.istitle()
            ]
    return found


def test_the_check_sees_what_it_is_for() -> None:
    assert mutable_state("cache = {}\nLIMIT = {}\ndef f():\n    global cache\n") == ["global cache", "cache"]
    assert mutable_state("from collections import deque\nwaiting: deque = deque()\n") == ["waiting"]


@pytest.mark.req("invariant.no-module-state")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_keeps_state(path: Path) -> None:
    assert mutable_state(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_but_the_commands_prints(path: Path) -> None:
    if "cli" in path.parts:
        return
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    assert [node.lineno for node in calls if isinstance(node.func, ast.Name) and node.func.id == "print"] == []
