"""Runs every batch through a condenser and adds up the figures."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from afterturn.replay.stream import Call

from .adapter import Condenser
from .batches import BenchBatch, BenchSession, batches
from .facts import RECALLED, Fact, Place, count_visible
from .figures import Figures, Kept, Share
from .floors import FLOORS
from .future_use import Needs, needs, still_visible
from .grounding import made_up, misplaced, wrong_refs
from .labels import second_extractor

BIG = 3200
"""Chars of raw results from which on a batch counts for kept size and future use."""


class Measurement:
    """Figures by harness, and the results that the checks after a restart need again."""

    def __init__(self, labelled: dict[str, dict[Place, list[Fact]]]) -> None:
        """labelled: facts by the name of their `Share` in `Kept`."""
        self.figures: dict[str, Figures] = {}
        self._labelled = labelled
        self._answers: list[tuple[BenchSession, BenchBatch, str]] = []
        self._originals: dict[tuple[str, str], dict[str, str]] = {}

    def run(self, condenser: Condenser, sessions: Iterable[BenchSession]) -> None:
        """Condenses every batch once and measures what came back."""
        for session in sessions:
            figures = self.figures.setdefault(session.harness, Figures(session.harness))
            needed = needs(session.session)
            for batch in batches(session.session):
                result = condenser.condense_batch(session.session_id, batch.wire)
                self._answers.append((session, batch, frozen(result)))
                self._remember_originals(session, batch, result)
                self._measure(figures, session, batch, result, needed[batch.turn])

    def after_restart(self, condenser: Condenser) -> None:
        """Stability and recovery: everything again, from a process that was killed and started anew."""
        condenser.kill_and_restart()
        self._compare(condenser, "after a restart")
        for (session_id, harness), originals in self._originals.items():
            texts = condenser.resolve(session_id, list(originals))
            figures = self.figures[harness]
            lost = [ref for ref, text in originals.items() if texts.get(ref) != text]
            figures.recovery.add(len(originals) - len(lost), len(originals))
            figures.findings += [{"figure": "recovery", "session": session_id, "ref": ref} for ref in lost]

    def elsewhere(self, condenser: Condenser) -> None:
        """Stability in another process with an empty store."""
        self._compare(condenser, "in another process")

    def _compare(self, condenser: Condenser, where: str) -> None:
        for session, batch, answer in self._answers:
            figures = self.figures[session.harness]
            same = frozen(condenser.condense_batch(session.session_id, batch.wire)) == answer
            figures.stability.add(int(same), 1)
            if not same:
                figures.findings.append({"figure": "stability", "where": where, **_place(session, batch)})

    def _remember_originals(self, session: BenchSession, batch: BenchBatch, result: dict[str, Any]) -> None:
        originals = self._originals.setdefault((session.session_id, session.harness), {})
        for item in result["items"]:
            text = batch.calls[item["index"]].result_text
            if item["shortId"] is not None and text is not None:
                originals[item["shortId"]] = text
            elif text is not None and item["state"] != "recovered":
                originals[f"call {item['toolCallId']} without a ref"] = text

    def _measure(
        self, figures: Figures, session: BenchSession, batch: BenchBatch, result: dict[str, Any], needed: Needs
    ) -> None:
        figures.batches += 1
        figures.calls += len(batch.calls)
        outcome = f"{result['outcome']}/{result['reason']}" if result.get("reason") else result["outcome"]
        figures.outcomes[outcome] = figures.outcomes.get(outcome, 0) + 1
        shown = shown_texts(batch, result)
        raw = sum(len(call.result_text or "") for call in batch.calls)
        if raw >= BIG:
            figures.big += 1
            figures.ours.size.add(sum(map(len, shown)), raw)
            for name, floor in FLOORS.items():
                _floor(figures, name).size.add(sum(len(floor(call)) for call in batch.calls), raw)
        if result["outcome"] != "summarized":
            return
        _check_growth(figures, session, batch, result)
        _check_refs(figures, session, batch, result)
        _check_grounds(figures, session, batch, result)
        self._count_facts(figures, session, batch, shown)
        if raw >= BIG:
            _count_needs(figures, batch, needed, "\n".join(shown))
            figures.summary_size.add(result["summaryChars"], result["rawChars"])

    def _count_facts(self, figures: Figures, session: BenchSession, batch: BenchBatch, shown: list[str]) -> None:
        for index, call in enumerate(batch.calls):
            place = Place(session.file, session.number, batch.turn, index)
            labelled = {source: facts.get(place, []) for source, facts in self._labelled.items()}
            for source, facts in (labelled | {"second": second_extractor(call)}).items():
                seen = count_visible(facts, shown[index])
                _add_facts(figures.ours, source, facts, seen)
                for name, floor in FLOORS.items():
                    _add_facts(_floor(figures, name), source, facts, count_visible(facts, floor(call)))
                for fact, is_seen in zip(facts, seen, strict=True):
                    figures.by_kind.setdefault(f"{source} {fact.kind}", Share()).add(int(is_seen), 1)
                    if not is_seen:
                        lost = {"figure": "recall", "labels": source, "kind": fact.kind, "fact": fact.text}
                        figures.findings.append(lost | _place(session, batch) | {"call": index})


def frozen(result: dict[str, Any]) -> str:
    """The parts of a result that must be the same bytes every time."""
    items = [{name: item.get(name) for name in ("shortId", "state", "replacement")} for item in result["items"]]
    parts = [result["outcome"], result.get("reason"), result.get("summaryText"), result["refs"], items]
    return json.dumps(parts, sort_keys=True)


def shown_texts(batch: BenchBatch, result: dict[str, Any]) -> list[str]:
    """What stands in the host's history for each result: the replacement, or the result itself."""
    texts = [call.result_text or "" for call in batch.calls]
    for item in result["items"]:
        if item.get("replacement") is not None:
            texts[item["index"]] = item["replacement"]
    return texts


def _check_growth(figures: Figures, session: BenchSession, batch: BenchBatch, result: dict[str, Any]) -> None:
    """Nothing may be longer than what it stands for: no replacement, not all of them, and not the summary."""
    longer = [
        item["index"]
        for item in result["items"]
        if item.get("replacement") is not None
        and len(item["replacement"]) >= len(batch.calls[item["index"]].result_text or "")
    ]
    raw = sum(len(batch.calls[item["index"]].result_text or "") for item in result["items"] if item["shortId"])
    whole = sum(map(len, shown_texts(batch, result))) >= raw or len(result["summaryText"]) > result["rawChars"]
    if longer or whole:
        figures.grown += 1
        figures.findings.append({"figure": "growth", "items": longer, **_place(session, batch)})


def _check_refs(figures: Figures, session: BenchSession, batch: BenchBatch, result: dict[str, Any]) -> None:
    wrong = wrong_refs(result, batch.calls)
    figures.refs.add(int(not wrong), 1)
    if wrong:
        figures.findings.append({"figure": "refs", "wrong": wrong, **_place(session, batch)})


def _check_grounds(figures: Figures, session: BenchSession, batch: BenchBatch, result: dict[str, Any]) -> None:
    refs = [item["shortId"] for item in result["items"] if item["shortId"]]
    for item in result["items"]:
        if item["state"] != "condensed" or item.get("replacement") is None:
            continue
        call = batch.calls[item["index"]]
        wrong = made_up(item["replacement"], call, refs) + misplaced(item["replacement"], call)
        figures.fabricated += len(wrong)
        if wrong:
            place = _place(session, batch) | {"call": item["index"]}
            figures.findings.append({"figure": "fabrication", "literals": wrong, **place})


def _count_needs(figures: Figures, batch: BenchBatch, needed: Needs, shown: str) -> None:
    def count(kept: Kept, text: str) -> None:
        kept.used.add(still_visible(needed.used, text), len(needed.used))
        kept.aimed.add(still_visible(needed.aimed, text), len(needed.aimed))

    count(figures.ours, shown)
    for name, floor in FLOORS.items():
        count(_floor(figures, name), _joined(floor, batch.calls))


def _joined(floor: Callable[[Call], str], calls: list[Call]) -> str:
    return "\n".join(floor(call) for call in calls)


def _floor(figures: Figures, name: str) -> Kept:
    return figures.floors.setdefault(name, Kept())


def _add_facts(kept: Kept, source: str, facts: list[Fact], seen: list[bool]) -> None:
    recalled: Share = getattr(kept, source)
    for fact, is_seen in zip(facts, seen, strict=True):
        (recalled if fact.kind in RECALLED else kept.other).add(int(is_seen), 1)


def _place(session: BenchSession, batch: BenchBatch) -> dict[str, Any]:
    return {"file": session.file, "session": session.number, "turn": batch.turn}
