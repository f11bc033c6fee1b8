"""What a recap's sentences are held against: the prompted material and how its steps ended (recap.md, 'Output')."""

from collections.abc import Sequence

from msgspec import Struct

from afterturn.recap.runs import RUN_KINDS, kinds_of, only_looks, run_failed, shows_pass
from afterturn.recap.steps import OK, Step, command_of
from afterturn.recap.writes import written_paths

_DOCUMENTS = (".md", ".rst", ".txt", ".adoc")


class Deed(Struct, frozen=True):
    """A step, as far as claims are concerned.

    kinds: what it did: "test", "build", "lint", "commit", "push", "merge", "deploy", "request" (to merge),
    "install", "write", "run" (something else, which may show that it works).
    ok: whether it ended well, by its status and by what its output says. passes: its output says that tests passed.
    names: paths and words of its call, for claims that name something. prose: it writes nothing but documents.
    """

    kinds: frozenset[str]
    ok: bool
    passes: bool
    names: str
    prose: bool


class Evidence(Struct, frozen=True):
    """source: the text that the model saw. prospects: what of it can speak of what comes next. deeds: in order.

    asked: what of it the person wrote.
    """

    source: str
    prospects: str
    deeds: tuple[Deed, ...]
    asked: str = ""


def deeds_of(steps: Sequence[Step]) -> tuple[Deed, ...]:
    """One deed for each step."""
    return tuple(_deed(step) for step in steps)


def _deed(step: Step) -> Deed:
    command = command_of(step.call)
    kinds = set(kinds_of(command)) if command else set[str]()
    paths = written_paths(step.call)
    if paths:
        kinds.add("write")
    name = step.call.name.lower()
    if "pull_request" in name or "merge_request" in name:
        kinds.add("request")
    if command and not (kinds or only_looks(command)):
        kinds.add("run")
    output = step.output
    failed = bool(kinds & RUN_KINDS) and run_failed(output)
    names = " ".join(paths) + " " + (command or "")
    return Deed(
        kinds=frozenset(kinds),
        ok=step.status == OK and not failed,
        passes="test" in kinds and shows_pass(output),
        names=names,
        prose=bool(paths) and all(path.lower().endswith(_DOCUMENTS) for path in paths),
    )
