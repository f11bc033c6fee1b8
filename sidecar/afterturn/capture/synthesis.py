"""Reading a reflection that a model wrote (seed core-capture, section 5; capture.md, 'Reflection')."""

import re

from afterturn.capture.grounds import Grounds
from afterturn.capture.judging import nothing, unscored
from afterturn.capture.reflections import MAX_CHARS
from afterturn.prompts.reflection_synth import NOTHING
from afterturn.replies import unfenced, without_thinking
from afterturn.text import clean, cut
from afterturn_protocol.traces import Reflection

_LETTERS = re.compile(r"[^A-Za-z]+")
_LABEL = re.compile(
    r"^(?:\*\*|__)?(?:reflection|note)(?:\*\*|__)?[ \t]*[:\uff1a][ \t]*(?:\*\*|__)?[ \t]*", re.IGNORECASE
)
_QUOTES = ('""', "''", "\u201c\u201d", "\u300c\u300d", "``")
_DO = r"(?:help|assist|comply|provide|generate|write|create|produce|fulfil+|do (?:that|this)|continue|reflect on)\b"
_CANNOT = (
    r"(?:i (?:can(?:no|'|\u2019)?t|cannot|won(?:'|\u2019)t|will not|am unable to|am not able to) "
    rf"|i(?:'|\u2019)m (?:unable|not able) to ){_DO}"
)
# Who is sorry for what was done reflects; who is sorry and goes on with "but" or "I cannot help" does not.
_REFUSAL = re.compile(
    r"(?:i(?:'|\u2019)?m|i am) (?:really |very |so )?sorry"
    rf"(?:[,.;:!]? (?:but|as an|there(?:'|\u2019)?s|there is)\b|[^!?;\n]{{0,100}}?\b{_CANNOT}|[.!]?$)"
    r"|sorry, (?:but )?i\b|i (?:must )?(?:apologi[sz]e|decline)\b|as an ai\b"
    rf"|(?:unfortunately,? )?{_CANNOT}"
    r"|(?:很|非常)?(?:抱歉|对不起)[,\uff0c\u3002我]|我(?:无法|不能)(?:提供|协助|帮助|完成|满足|回答|生成)"
    r"|作为(?:一个)?(?:AI|人工智能)",
    re.IGNORECASE,
)


def read_reflection(reply: str) -> str:
    """The text of a reply without what stands around it: thinking, a fence, a label, quotation marks."""
    text = clean(unfenced(without_thinking(reply))).strip()
    text = _LABEL.sub("", text, count=1).strip()
    for marks in _QUOTES:
        if len(text) > 1 and text[0] == marks[0] and text[-1] == marks[-1] and marks[0] not in text[1:-1]:
            text = text[1:-1].strip()
    return text


def is_nothing(text: str) -> bool:
    """Whether a text says that there is no reflection to write."""
    return NOTHING in text or _LETTERS.sub("", text).upper() == "NOREFLECTION"


def is_refusal(text: str) -> bool:
    """Whether a text refuses rather than reflects."""
    return _REFUSAL.match(text) is not None


def written(text: str, grounds: Grounds, *, model: str, version: str) -> Reflection:
    """The reflection that a model's text makes: unscored, or none with the reason why it cannot stand."""
    if not text or is_nothing(text):
        return nothing("no_reflection", model=model, version=version)
    if is_refusal(text):
        return nothing("refusal", model=model, version=version)
    text = cut(text, MAX_CHARS)
    if not grounds.hold(text):
        return nothing("ungrounded", model=model, version=version)
    return unscored(text, "synth", model=model, version=version)
