"""What a report says, the same in a terminal and on a page."""

from collections import Counter
from pathlib import Path

from afterturn.replay.figures import FileFigures, RecapFound, SessionFigures, Spend, TraceFound
from afterturn.replay.numbers import lasted, moment, plural, short, tokens
from afterturn.text import clean, cut

HARNESSES = {
    "aider": "aider",
    "amp": "Amp",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "kimi-cli": "Kimi CLI",
    "mini-swe-agent": "mini-swe-agent",
    "opencode": "opencode",
    "openhands": "OpenHands",
    "pi": "pi",
    "swe-agent": "SWE-agent",
}
_LONGEST_COMPLAINT = 10_000
"""A path may be long, and is to be found again."""
_DOT = " \u00b7 "


def in_line(text: str, most: int = 200) -> str:
    """A text from a session, or a path, as it may stand in a line: nothing in it moves a cursor or hides a part.

    most: the most chars of it.
    """
    return cut(clean(text).replace("\n", " ").replace("\t", " "), most)


def complaint(problem: Exception | str) -> str:
    """What is wrong, as a line for stderr."""
    return f"afterturn: {in_line(str(problem), _LONGEST_COMPLAINT)}\n"


def harness_name(harness: str) -> str:
    """As its makers write it."""
    return HARNESSES.get(harness, harness)


def title(found: FileFigures) -> str:
    """What the file is about, else its name."""
    return found.main.title or in_line(Path(found.file).name)


def name_of(session: SessionFigures) -> str:
    """What one of several sessions is called."""
    name = session.title or in_line(session.session_id)
    return f"Sub-agent: {name}" if session.is_sub_agent else f"Branch: {name}" if session.branched else name


def about(found: FileFigures) -> list[str]:
    """Where, with which model and when the session was; then what was in it. Each a line."""
    main = found.main
    since, spent_ms = moment(main.started), main.lasted_ms
    when = f"{since}, {lasted(spent_ms)}" if since and spent_ms else since
    where = [part for part in (at_home(in_line(main.cwd or "")), in_line(main.model or ""), when) if part]
    return [_DOT.join(line) for line in (where, _counts(found)) if line]


def _counts(found: FileFigures) -> list[str]:
    failed, unanswered = found.total("errors"), found.total("tool_calls") - found.total("results")
    aside = [f"{failed:,} failed" if failed else "", f"{unanswered:,} unanswered" if unanswered else ""]
    aside = [part for part in aside if part]
    counts = [
        f"{plural(found.total('turns'), 'turn')} for {plural(found.total('requests'), 'request')}",
        plural(found.total("tool_calls"), "tool call") + (f" ({', '.join(aside)})" if aside else ""),
    ]
    for name, noun in (("compactions", "compaction"), ("failed_turns", "failed turn")):
        if found.total(name):
            counts.append(plural(found.total(name), noun))
    sub_agents = sum(session.is_sub_agent for session in found.sessions)
    branches = sum(session.branched for session in found.sessions)
    if sub_agents:
        counts.append(plural(sub_agents, "sub-agent"))
    if branches:
        counts.append(plural(branches, "branch", "branches"))
    if len(found.sessions) - sub_agents - branches > 1:
        counts.append(plural(len(found.sessions) - sub_agents - branches, "session"))
    return counts


def at_home(path: str) -> str:
    """A path without the name of its user, where it lies below this user's home."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def in_tokens(raw: int, kept: int) -> str:
    """About what so many chars are for a model, before and after."""
    return f"about {short(tokens(raw))} \u2192 {short(tokens(kept))} tokens"


def pause(recap: RecapFound) -> str:
    """When a recap was due, and after how long."""
    said = "at the end" if recap.away_ms is None else f"after {lasted(recap.away_ms)}"
    return ", ".join(part for part in (moment(recap.at), said, f"by {recap.model}" if recap.model else "") if part)


def traces_note(found: FileFigures) -> str:
    """How many traces there are, and what their alpha means."""
    steps = f"{plural(found.trace_count, 'step')} that later sessions can search"
    if not any(trace.reflected for trace in found.traces):
        return f"{steps}; none has a reflection, which \u03b1 would weigh"
    return f"{steps}, best first; \u03b1 weighs a step's reflection"


def alpha(trace: TraceFound) -> str:
    """Its alpha, which only a reflection has."""
    return f"\u03b1 {trace.alpha:.2f}" if trace.reflected else "\u03b1 -"


def warning_lines(warnings: Counter[str], most: int) -> list[str]:
    """The most frequent warnings, and how many others there are."""
    lines = [in_line(what) + (f" ({count:,} times)" if count > 1 else "") for what, count in warnings.most_common(most)]
    left = len(warnings) - most
    return [*lines, f"{plural(left, 'other thing')}; --json has them all"] if left > 0 else lines


def spent(spend: Spend, may_ask: bool) -> str:
    """What model calls cost. may_ask: there is a model; that none answered does not say that none was asked."""
    if not spend.calls:
        return "No model answered." if may_ask else "No model was asked, and nothing left the machine."
    tokens = [
        f"{count:,} tokens {way}"
        for count, way in ((spend.input_tokens, "in"), (spend.output_tokens, "out"))
        if count is not None
    ]
    cost = "cost unknown" if spend.cost is None else f"${spend.cost:.4f}"
    return f"{plural(spend.calls, 'model call')} to {', '.join(spend.models)}: {', '.join([*tokens, cost])}."
