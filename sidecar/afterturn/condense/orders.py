"""Lines of a summary that speak to the agent: orders, and the marks of a speaker (condense.md, 'Checking a reply';
case C09).

A bullet says what a tool returned. `Run the tests again.` does not; `Run of the tests: 3 failed` does, so words that
report what came of it make a statement of what began like an order. What the extractor knows as an order
(`extract.safe`) is one here too.
"""

import re

from afterturn.condense.extract.safe import is_instruction
from afterturn.text import one_line

# Verbs that are hardly anything else.
_VERBS = (
    "add append apply avoid configure continue create delete disable edit enable ensure erase examine execute"
    " implement inspect install investigate kill modify navigate proceed re-?run re-?install re-?build re-?try"
    " re-?start refactor reinstall remember remove rename replace resume revert rewrite rollback send switch"
    " tell terminate try undo uninstall unset update upgrade upload verify visit write ask use confirm"
)
# Behind these nouns such a verb is a name: `Delete endpoint at src/api.py:30`.
_NAMED = (
    "endpoint handler button function method route script permission access operation request option flag event hook"
    " query statement mode path command count log key queue status time date size block case clause guide notes speed"
    " rate lock rule pattern policy errors? failures? output results?"
)
# Verbs that are nouns, or names of tools and programs, as well.
_NOUNS = (
    "build call change check clean click clone commit copy deploy download fetch fix format grep import lint list look"
    " make merge move open patch ping post pull push release reset restore review run save scan search skip start stop"
    " test ignore answer reply view watch curl cat rm sudo print export load exit close debug"
)
_LEAD_IN = (
    r"(?:(?:then|now|next|first|second|finally|afterwards?|also|so|therefore|instead|and|otherwise|once done|when done"
    r"|after that|lastly|(?:the )?next (?:step|action)s?|action|step \d+|task|instructions?|important|note|hint|tip"
    r"|suggestion|recommendation|recommended|to ?do|you can|let'?s|let us|immediately|carefully)\b"
    r"(?: (?:is|are)(?: to)?\b)?\s*[:,.!-]*\s+(?:to\s+)?){0,3}"
)
_DETERMINER = (
    r"(?:the|your|this|that|these|those|all|any|every|each|it|them|my|our|a|an|both|again|now|first"
    r"|fail(?:ed|ing) (?:tests?|jobs?|steps?|checks?|cases?))\b"
)
# A command, a path, a file, a flag, an address, a name with a sign in it.
_LITERAL = r"(?:[`\"'/~.$-]|[\w.@-]+[/\\=(]|[\w-]+\.[A-Za-z]\w{0,7}\b|https?:|[A-Za-z]+\d{2,}\b|[A-Z]+_\w)"
_NAMES = "|".join(_NAMED.split())
_VERB = "|".join(_VERBS.split())
_NOUN = "|".join(_NOUNS.split())
_ORDER = re.compile(rf"{_LEAD_IN}(?:{_VERB}|{_NOUN})\s+{_DETERMINER}", re.IGNORECASE)
_BARE_ORDER = re.compile(
    rf"{_LEAD_IN}(?:(?:{_VERB})(?:\s+(?!(?:of|to|in|on|for|at|and|or|is|{_NAMES})\b|->)[^\s:;,.]|\s*[.!]?$)"
    rf"|(?:{_NOUN})\s+{_LITERAL}|(?:{_NOUN})\s+and\s+(?:{_VERB}|{_NOUN})\b"
    rf"|(?:{_NOUN})\b.{{0,60}}\s(?:again|now|first|next|before|until|immediately)\b"
    r"|(?:go|switch|continue|proceed|respond|reply|answer|listen|refer)\s+(?:to|on|in|with|and)\b)",
    re.IGNORECASE,
)
# Words that report what came of it.
_REPORT = re.compile(
    r"->|=>|[\u2192\u21d2\u2713\u2717]|:\s*\d"
    r"|\b(?:is|are|was|were|has|had|have|did|does|ok|okay|returns?|fails?|pass(?:es)?|finds|found|shows|gives|gave|took"
    r"|takes|ran|runs|wrote|got|went|came|says?|said|prints|contains|succeeds|success(?:ful(?:ly)?)?|works|hangs|hung"
    r"|done|missing|empty|yields|lost|broke|kept|cannot|can't|could|would|no longer|not found|denied|exits|exited"
    r"|(?:exit|status|code) (?:code |status )?\d+|\d+ (?:errors?|failures?|warnings?)"
    r"|(?!need|unus|relat|requir|want|embed|ne?st|speci|se?ed\b|fe?ed\b|ne?ed\b|spe?ed\b|inde?ed\b|unrelat)\w{2,}ed)\b",
    re.IGNORECASE,
)
# What comes behind these words is no report of what comes before.
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|because|since|as|if|when|where|until|till|after|before|so|unless|once|whether|while)\b"
    r"|\bto (?:see|get|make|fix|check|find|have|be|let|show|verify)\b|[.;!?](?=\s)|\s[\u2014-]\s",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?:\$ )?(?:sudo\s+)?(?:git|npm|npx|pnpm|yarn|bun|pip3?|uv|poetry|cargo|go|make|docker|kubectl|terraform"
    r"|helm|aws|gh|rm|mv|cp|chmod|chown|curl|wget|ssh|scp|bash|sh|python3?|node|pytest|apt(?:-get)?|brew|systemctl"
    r"|kill|dd|echo|export|cd)(?:\s+[^\s:;,]+){1,12}\.?"
)
# A flag, a pipe, or a word for doing: without one it may as well be a heading.
_ACTING = re.compile(
    r"\s--?\w|[|>&]|\b(?:install|push|commit|reset|checkout|deploy|publish|apply|delete|destroy|run|exec|add|upgrade)\b"
    r"|^(?:\$ )?(?:sudo|rm|mv|chmod|kill|dd|curl|wget)\s"
)
_SPEAKER = re.compile(
    r"[\[(<#\s]*(?:(human|assistant)|(user|system|developer|ai|用户|助手|人类|系统|使用者|ユーザー|アシスタント|システム))"
    r"[\])>*_`\s]*[:\uff1a][*_`]*\s*(\S.*)",
    re.IGNORECASE,
)
_ANSWERS = frozenset("go ok okay yes no continue proceed stop thanks please sure done hi hello".split())
_POLITE = re.compile(
    r"(?:bitte|por favor|s['\u2019]il (?:te|vous) pla[iî]t|veuillez|per favore|per cortesia|пожалуйста|будь добр"
    r"|du (?:musst|sollst|darfst)|sie (?:müssen|sollen|dürfen)|(?:tu dois|vous devez|il faut que (?:tu|vous))"
    r"|(?:debes|tienes que|usted debe|você deve|devi|dovete|ты должен|вы должны))\b"
    r"|请(?![求教问])|請(?![求教問])|务必|務必|切勿|不要|[你您](?:必须|必須|应该|應該|需要|要|得|可以)|必ず|절대|반드시",
    re.IGNORECASE,
)
_POLITE_END = re.compile(
    r"(?:ください|下さい|なさい|すること|しろ|せよ|하세요|하십시오|해라|해 ?주세요|십시오)[。.!！]*$"
)
_IGNORE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|your|system|all)\b"
    r".{0,30}\b(?:instruct\w+|prompts?|rules?|directions?|guidelines?|commands?|messages?|context)\b"
    r"|\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*|beachte\w* nicht)\b.{0,50}"
    r"(?:anweisung|instruktion|befehl|vorgabe|regel|prompt)"
    r"|\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) pas compte)\b.{0,50}"
    r"\b(?:instructions?|consignes?|directives?|ordres?|règles?)"
    r"|\b(?:ignor[ae]n?|olvid[ae]n?|descart[ae]n?|haz caso omiso|no hagas caso|omite)\b.{0,50}"
    r"\b(?:instruccion\w*|órdenes|indicacion\w*|reglas)"
    r"|\b(?:ignor[ae]m?|esque[çc][ae]m?|desconsider[ae]m?)\b.{0,50}\b(?:instruç\w+|ordens|orientaç\w+|regras|comandos)"
    r"|\b(?:ignora(?:te)?|dimentica(?:te)?|trascura(?:te)?)\b.{0,50}\b(?:istruzion\w|ordini|indicazion\w|regole)"
    r"|(?:игнорируй|забудь|не обращай внимания)\w*.{0,50}(?:инструкци|указани|команд|правил)"
    r"|(?:忽略|无视|無視|忽視|忘记|忘記|忘掉|不要理会|抛开).{0,20}(?:指令|指示|说明|說明|命令|提示|要求|规则|規則)"
    r"|(?:指示|命令|指令|プロンプト|ルール|説明).{0,12}(?:無視|忘れ)"
    r"|(?:지시|명령|지침|프롬프트|규칙).{0,12}(?:무시|잊)",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:[\s>#*_+\u2022-]+|\[[ xX]\]\s|\d{1,3}[.)]\s){0,8}")
_REFS = re.compile(r"(?:`[tb][0-9]+`[\s,]*)+")
_SAYS = re.compile(r"[\w ]{1,30}:\s")
_QUOTE = re.compile(r"([`\"'\u201c\u2018\u00ab\u300c])(.+)[`\"'\u201d\u2019\u00bb\u300d][.!]?$")
_SENTENCE_END = re.compile(r"(?<=[.!?])[*_\"')]*\s+(?=[A-Z*_])|(?<=[\u3002\uff01\uff1f])")
_READ_CHARS = 600


def is_order(line: str, tool_name: str = "") -> bool:
    """Whether a line of a bullet speaks to the agent, or in another's voice.

    tool_name: of the bullet's call; `Edit src/a.py` reports a call of a tool `Edit`. A line with a ref does so too.
    """
    line = one_line(line)  # with runs of blanks the patterns would take for ever
    unmarked = _LIST_MARK.sub("", line, count=1)[:_READ_CHARS]
    bare = _REFS.sub("", unmarked, count=1)
    quoted = _QUOTE.match(bare)
    if quoted is not None and not any(mark in quoted[2] for mark in quoted[1] + '`"'):
        bare = quoted[2]  # nothing but a quote: what it says is all that the line says
    if is_instruction(bare) or _IGNORE.search(line) or _POLITE_END.search(bare) or _speaks(bare):
        return True
    first, *later = _SENTENCE_END.split(bare)
    if _POLITE.match(first) or _commands(first):
        return True
    after_ref = bare != unmarked and quoted is None
    names_tool = bool(tool_name) and bare.startswith(f"{tool_name} ")
    if not (after_ref or names_tool) and (_is_bare_order(first) or _is_command(bare)):
        return True
    # Behind `says:` and its like stands what the output says.
    return _SAYS.match(bare) is None and any(_commands(each) or is_instruction(each) for each in later)


def _commands(sentence: str) -> bool:
    found = _ORDER.match(sentence)
    return found is not None and "->" not in sentence and _REPORT.match(sentence, found.end()) is None


def _is_bare_order(sentence: str) -> bool:
    return _BARE_ORDER.match(sentence) is not None and not _reports(sentence)


def _reports(sentence: str) -> bool:
    """Whether the main clause says what came of it."""
    end = _SUBORDINATE.search(sentence)
    return _REPORT.search(sentence, 0, end.start() if end is not None else len(sentence)) is not None


def _is_command(line: str) -> bool:
    return _COMMAND.fullmatch(line) is not None and _ACTING.search(line) is not None and not _reports(line)


def _speaks(line: str) -> bool:
    """Whether a line is given as what somebody says. `User: alice` is a field, and so is what has figures in it."""
    found = _SPEAKER.match(line)
    if found is None:
        return False
    if found[1] is not None:
        return True
    said = found[3].strip()
    words = said.split()
    if not said.isascii():
        return True
    if len(words) < 3:
        return said.strip(".,!").lower() in _ANSWERS or _commands(said) or _is_bare_order(said)
    return re.search(r"[\d=:;|]|->", said) is None
