"""Replies that say nothing, and replies that say no, in the languages that models answer in (condense.md, 'Checking a
reply'). Only how a line begins counts: a refusal opens with itself.
"""

import re

_NOTHING = (
    r"null|nil|none|n[/.]?a|undefined|nothing|empty|todo|tbd|no (?:summary|bullets?|output|content|results?)",
    r"nothing (?:to|worth) (?:report|summari[sz]e|record|add|note|keep)(?:ing)?",
    r"无|無|没有|空|なし|特になし|없음|keine?|aucune?|ninguno|nada|nenhum|nessuno",
)
_REFUSALS = (
    r"i(?:['’]m| am) (?:very |so |really )?(?:sorry|afraid|unable|not able)|sorry,|my apologies|i apologi[sz]e",
    r"i (?:can(?:no|['’])?t|won['’]t|will not|must decline)\b|i['’]d rather not|unfortunately, i |as an ai\b",
    r"(?:es )?tut mir (?:sehr |wirklich )?leid|leider (?:kann|darf|bin) ich|ich bin nicht in der lage|als ki\b",
    r"ich kann (?:ihnen |dir |euch )?(?:leider|das|die|dies\w*|dabei|nicht|keine)\b|entschuldig\w+[,.:]",
    r"(?:je suis )?(?:vraiment )?désolé|je (?:ne peux|ne suis|regrette|m['’]excuse)\b|malheureusement, je",
    r"en tant qu(?:e|['’]) ?(?:ia|modèle)\b",
    r"lo (?:siento|lamento)\b|lamento\b|disculp|no puedo\b|me temo\b|como (?:una? )?(?:ia|modelo de)\b",
    r"desculp|sinto muito|não (?:posso|consigo)\b|infelizmente, (?:eu )?não",
    r"mi dispiace|(?:sono )?spiacente|non (?:posso|sono in grado)\b|purtroppo,? non",
    r"извини|простите|к сожалению, я|я не (?:могу|в состоянии)",
    r"(?:非常|很|真的?)?(?:抱歉|对不起|對不起|不好意思)|我(?:无法|無法|不能|不会|不會|没法)|作为(?:一[个名])?(?:ai|人工智能)",
    r"(?:大変)?申し訳|すみません|すいません|ごめんなさい|残念ながら|恐れ入りますが|죄송|미안|저는 .{0,20}수 없",
)
_SAYS_NOTHING = re.compile(rf"[\W_]*(?:(?:{'|'.join(_NOTHING)})[\W_]*)?", re.IGNORECASE)
_REFUSES = re.compile(rf"[\s\"'*]*(?:{'|'.join(_REFUSALS)})", re.IGNORECASE)


def says_nothing(line: str) -> bool:
    """Whether a line without its label and list mark has no word in it, or only one for nothing."""
    return _SAYS_NOTHING.fullmatch(line) is not None


def refuses(line: str) -> bool:
    """Whether a line without its label and list mark begins as a refusal does."""
    return _REFUSES.match(line) is not None
