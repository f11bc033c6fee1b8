"""Which model drafts a recap (recap.md, 'Model'; seed session-recap). The table of cheap siblings is data."""

import re

from msgspec import Struct

from afterturn_protocol.base import ModelInfo


class ModelPick(Struct, frozen=True):
    """The choice. model: "provider/id", or None: no model is asked. problem: a sentence to report, or None."""

    model: str | None
    problem: str | None = None


class Sibling(Struct, frozen=True):
    """A cheaper model of a session's own provider.

    provider: the active provider must be this; None is any. active: what the active model's id must hold.
    wanted: what the sibling's id must match.
    """

    provider: str | None
    active: re.Pattern[str]
    wanted: re.Pattern[str]


# A new cheap sibling is a line here; the first row that fits and is offered wins.
SIBLINGS: tuple[Sibling, ...] = (
    Sibling("anthropic", re.compile(""), re.compile(r"claude-haiku-5-5\Z")),
    Sibling(None, re.compile(r"(?:\A|/)gpt-"), re.compile(r"(?:.*/)?gpt-6-luna(?:[@:].*)?\Z", re.DOTALL)),
)


def split_model(text: str) -> tuple[str, str] | None:
    """Provider and id of "provider/id", parted at the first slash; None where one of them is missing."""
    provider, _, model_id = text.strip().partition("/")
    return (provider, model_id) if provider and model_id else None


def choose_model(setting: str | None, active: ModelInfo | None, *, host: bool, default: str | None) -> ModelPick:
    """The model for a recap, in the order of recap.md.

    setting: `recap.model`. active: what the session runs on. host: whether the host completes, so that only what it
    offers can be asked for. default: `models.model`, used where the host does not complete.

    A setting that names no model, or one that the host does not offer, gives a problem and no model.
    """
    if setting is not None:
        return _chosen(setting, active if host else None)
    if not host:
        return ModelPick(default)
    if active is None:
        return ModelPick(None)
    sibling = _sibling(active)
    return ModelPick(f"{active.provider}/{active.id if sibling is None else sibling}")


def _chosen(setting: str, active: ModelInfo | None) -> ModelPick:
    named = split_model(setting)
    if named is None:
        return ModelPick(None, f"recap.model {setting!r} is not of the form provider/id")
    if active is not None and active.available is not None:
        offered = {(each.provider, each.id) for each in active.available} | {(active.provider, active.id)}
        if named not in offered:
            return ModelPick(None, f"recap.model {setting!r} is not among the models that the host offers")
    return ModelPick("/".join(named))


def _sibling(active: ModelInfo) -> str | None:
    offered = [each.id for each in active.available or () if each.provider == active.provider]
    for row in SIBLINGS:
        if row.provider in (None, active.provider) and row.active.search(active.id):
            found = next((model_id for model_id in offered if row.wanted.match(model_id)), None)
            if found is not None:
                return found
    return None
