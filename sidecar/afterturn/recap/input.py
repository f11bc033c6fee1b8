"""What a recap is drafted from, made once per state of a session (recap.md, 'Input')."""

from msgspec import Struct

from afterturn.completion import PromptMessage
from afterturn.recap.evidence import Evidence


class RecapInput(Struct, frozen=True, kw_only=True):
    """All that drafting, deciding and checking need of a session's context.

    messages: the whole prompt, one user message; () where `maxPromptChars` cannot hold any, or there is nothing.
    context_hash: SHA-256 in hex of the material that the model would see; the prompt's own words are no part of it.
    empty: there is nothing to recap.
    gate: the activity gate passes.
    facts: the recap without a model; None when there is nothing to say.
    evidence: what an answer is checked against.
    """

    messages: tuple[PromptMessage, ...]
    context_hash: str
    empty: bool
    gate: bool
    facts: str | None
    evidence: Evidence
