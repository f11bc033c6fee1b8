"""aider: the Markdown chat history, where `#### ` is the user and `> ` the tool's output."""

from afterturn.cli.transcript import Call, Session, SessionBuilder, say

_CHAT = "# aider chat started at "


def read_aider(text: str) -> list[Session]:
    """One session for each chat in the file.

    There are no calls in the format: each run of `> ` lines stands for one call of a tool named aider that answers
    the prose before it. A trailing blank pair of a Markdown line is no part of it.
    """
    sessions: list[Session] = []
    lines: list[str] = []
    name = "aider"
    for line in [*text.split("\n"), _CHAT]:
        if line.startswith(_CHAT):
            if any(kept.strip() for kept in lines):
                sessions.append(_chat(name, lines))
            name, lines = line.removeprefix(_CHAT), []
        else:
            lines.append(line)
    return sessions


def _chat(name: str, lines: list[str]) -> Session:
    build = SessionBuilder(f"aider {name}")
    for kind, run in _runs(lines):
        words = "\n".join(run).strip("\n")
        if kind == "user":
            build.user(words)
        elif kind == "tool":
            turns = build.session.turns
            turn = turns[-1] if turns and not turns[-1].calls and turns[-1].assistant_text else build.turn()
            number = sum(len(turn.calls) for turn in turns) + 1
            build.call(turn, Call(f"run-{number}", "aider", {}, words))
        elif words.strip():
            say(build.turn(), words)
    return build.done()


def _runs(lines: list[str]) -> list[tuple[str, list[str]]]:
    runs: list[tuple[str, list[str]]] = []
    for line in lines:
        kind = "user" if line.startswith("#### ") else "tool" if line.startswith("> ") or line == ">" else "prose"
        text = line if kind == "prose" else line.removeprefix("####" if kind == "user" else ">").removeprefix(" ")
        if not runs or runs[-1][0] != kind:
            runs.append((kind, []))
        runs[-1][1].append(text if kind == "prose" else text.removesuffix("  "))
    return runs
