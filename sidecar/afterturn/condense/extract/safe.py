"""What may leave the extractor: single lines that cannot be mistaken for our own syntax or for orders.

Tool output is data (condense.md, 'What the summariser is given'; case C09). Everything a bullet says goes through
`plain`, so no label, inline ref, fence, thinking tag or call syntax of the output survives as such. Lines that talk to
the agent are found by `is_instruction`: a caller leaves them out, or quotes them.
"""

import re

from afterturn.condense.extract.words import words
from afterturn.text import ELLIPSIS, cut_words, one_line

# Opening a label needs two brackets and a number; with one bracket less it is no label any more, and none can arise
# again, since a run of brackets is cut to one.
_LABEL = re.compile(r"(?<!\[)\[{2,}(?=\s?\d+\s?:)")
# Three backticks are a fence; a backticked t12 or b3 is a ref.
_FENCE = re.compile(r"`{3,}")
_REF = re.compile(r"`([tb]\d+)`", re.IGNORECASE)
# Tags that harnesses, chat templates and models give a meaning to.
_TAG = re.compile(
    r"<(?=/?(?:think|thinking|system|system-reminder|user|assistant|human|tool|tool_call|tool_use"
    r"|tool_result|function"
    r"|function_calls|invoke|parameter|antml|im_start|im_end|output|result|instructions?)\b|\|)",
    re.IGNORECASE,
)
# A line that speaks to its reader: shouted or polite, with or without an attention word before it.
_ORDER = re.compile(
    r"(?:[^\w]*(?:critical|important|reminder|attention|warning|note|notice|system|instructions?|urgent"
    r"|todo|tip|hint)"
    r"(?: \w+)?\s*[:!-]+\s*)?"
    r"(?:please\s+|now\s+|you\s+(?:must|should|are|need|can|may|have|will|shall)\b|always\s+|never\s+"
    r"|do\s+not\s+|do\s+\*|don'?t\s+"
    r"|ignore\s+(?:all|any|the|previous|your)\b|disregard\s|forget\s+(?:all|any|the|previous|your|everything)\b"
    r"|respond\s+(?:with|only|in)\b|reply\s+(?:with|only|in)\b|answer\s+(?:with|only|in)\b|output\s+only\b"
    r"|call\s+(?:the|no|this)\b|stop\s+(?:what|and|now|here)\b|make\s+sure\b|remember\s+(?:to|that)\b"
    r"|use\s+the\s+\w+\s+tool"
    r"|run\s+the\s+following|execute\s+the\s+following|follow\s+(?:these|the)\b|act\s+as\b|pretend\s"
    r"|from\s+now\s+on\b"
    r"|must\s+(?:not|be|use|call|respond)\b|wait\s+for\s+the\s+user|try\s+again\b|refer\s+to\b"
    r"|proceed\s+(?:with|to)\b)"
)
_ORDER_INSIDE = re.compile(
    r"\byou (?:must|should(?: not)?|are now|need to|have to)\b|\bdo not (?:call|use|answer|respond|tell"
    r"|mention|reveal)\b"
    r"|\b(?:previous|prior|above|all) instructions\b|\brespond with\b|\bas an ai\b"
)
# What such a line begins with, and what such words have in them: the patterns are slow, and few lines need them.
_FIRST_WORD = re.compile(r"\W*([a-z]+)")
_FIRST_WORDS = words(
    "critical important reminder attention warning note notice system instruction instructions urgent todo tip hint"
    " please now you always never do don dont ignore disregard forget respond reply answer output call stop make"
    " remember use run execute follow act pretend from must wait try refer proceed"
)
# A piece of words, paths and numbers has no syntax.
_SIMPLE = re.compile(r"[A-Za-z0-9_./:,;@=+()#% -]+")
# 你必须 / 请勿 / 不要 / 忽略 (you must, do not, ignore) and their Japanese and Korean like.
_ORDER_CJK = (
    "你必须",
    "您必须",
    "请勿",
    "请不要",
    "忽略之前",
    "忽略以上",
    "してください",
    "しないでください",
    "하지 마",
    "하세요",
)


def is_simple(text: str) -> bool:
    """Whether a text is words, paths and numbers with a blank between them, so that there is nothing to make plain."""
    return (
        _SIMPLE.fullmatch(text) is not None and "  " not in text and not text.startswith(" ") and not text.endswith(" ")
    )


def plain(text: str) -> str:
    """`text` as one line without anything that is syntax to a reader of summaries."""
    if is_simple(text):
        return text
    text = one_line(text)
    if "[[" in text:
        text = _LABEL.sub("[", text)
    if "`" in text:
        text = _REF.sub(r"'\1'", _FENCE.sub("'''", text))
    if "<" in text:
        text = _TAG.sub("(", text)
    if "~~~" in text:
        text = text.replace("~~~", "~")
    if "**Summarized" in text:
        text = text.replace("**Summarized", "Summarized")
    return text


def is_instruction(line: str) -> bool:
    """Whether a line of output speaks to the agent rather than about the work."""
    head = line[:300].lower()
    if head.isascii():
        if head.find(" ") < 0 and head.find("\t") < 0:
            return False  # one word gives no order
    elif any(mark in head for mark in _ORDER_CJK):
        return True
    first = _FIRST_WORD.match(head)
    if first is not None and first[1] in _FIRST_WORDS and _ORDER.match(head) is not None:
        return True
    return (
        "you " in head or "do not " in head or " instructions" in head or "respond with" in head or "as an ai" in head
    ) and _ORDER_INSIDE.search(head) is not None


def quoted(line: str, limit: int) -> str:
    """A line given as words of the output, in quotes, in at most `limit` chars; "" where that is too little."""
    text = plain(line)
    marks = "\u201c\u201d" if '"' in text else '""'
    if limit < 8 or not text:
        return ""
    if len(text) + 2 <= limit:
        return marks[0] + text + marks[1]
    return marks[0] + cut_words(text, limit - 3, "") + marks[1] + ELLIPSIS
