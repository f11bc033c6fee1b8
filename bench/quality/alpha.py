"""The order of α on controlled pairs (evaluation.md, 'Quality'): the same step with a concrete, a generic, a
contradicting and an empty reflection, graded by replies that were written down beforehand, in the forms models use.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .server import Server

KINDS = ("concrete", "generic", "contradicting", "empty")
"""From the one to be worth most to the one to be worth nothing."""

_PAIRS = Path(__file__).with_name("alpha_pairs.jsonl")


class Graded(NamedTuple):
    """α of one step's four reflections, in the order of KINDS, and how often a model was asked."""

    alphas: tuple[float, ...]
    usable: tuple[bool, ...]
    calls: int

    @property
    def ordered(self) -> bool:
        """Each kind is worth more than the next, or both are worth nothing: what is not usable is (seed, section 6)."""
        pairs = zip(self.alphas, self.alphas[1:], strict=False)
        return self.alphas[0] > 0 and all(more > less or more == less == 0 for more, less in pairs)

    @property
    def valid(self) -> bool:
        """Between 0 and 1, and 0 where it is not usable; nothing is asked about an empty reflection."""
        pairs = zip(self.alphas, self.usable, strict=True)
        return all(0 <= alpha <= 1 and (usable or alpha == 0) for alpha, usable in pairs) and self.calls == 3


def situations() -> list[dict[str, Any]]:
    """The steps, their reflections and the replies."""
    return [json.loads(line) for line in _PAIRS.read_text(encoding="utf-8").splitlines()]


def graded(home: Path) -> Iterator[Graded]:
    """Captures every step four times through a real server whose host answers with the written replies."""
    server = Server(
        home,
        {"embeddings": {"provider": "none"}, "capture": {"batchMode": "per_step"}},
        {"experimental": {"afterturn": {"sampling": True}}},
    )
    for number, situation in enumerate(situations()):
        yield _graded(server, number, situation)
    server.close()


def _graded(server: Server, number: int, situation: dict[str, Any]) -> Graded:
    asked: list[str] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        prompt = "\n".join(message["content"] for message in params["messages"])
        kind = next(kind for kind in KINDS[:3] if _as_json(situation["reflections"][kind]) in prompt)
        asked.append(kind)
        return {"text": situation["replies"][kind], "stopReason": "stop", "model": "recorded/one"}

    server.sample = answer
    alphas: list[float] = []
    usable: list[bool] = []
    for kind in KINDS:
        episode = _episode(f"{number} {kind}", situation, kind)
        server.request("capture/episodeFinalized", {"episode": episode})
        server.request("capture/drain", {"timeoutMs": 30_000})
        found = server.request("traces/list", {"episodeId": episode["id"], "project": "*"})["traces"]
        alphas += [trace["reflection"]["alpha"] for trace in found]
        usable += [trace["reflection"]["usable"] for trace in found]
    return Graded(tuple(alphas), tuple(usable), len(asked))


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _episode(name: str, situation: dict[str, Any], kind: str) -> dict[str, Any]:
    reflection = situation["reflections"][kind]
    tool = {"name": situation["tool"], "input": situation["input"], "toolCallId": "c1"}
    turns = [
        {"role": "user", "content": situation["user"], "ts": 1},
        {"role": "assistant", "content": situation["action"], "ts": 2, "meta": {"reflection": reflection}},
        {"role": "tool", "content": situation["output"], "ts": 3, "meta": tool},
    ]
    return {"id": f"alpha {name}", "sessionId": "alpha", "startedAt": 1, "turns": turns}
