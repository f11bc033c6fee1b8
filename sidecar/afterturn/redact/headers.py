"""Headers: authorisation and cookies, in a request, a JSON object, a command or code.

The scheme of an authorisation, the names of cookies and their attributes stay; credentials and values go.
"""

import re

from afterturn.redact import names
from afterturn.redact.span import BY_PLACE, Span
from afterturn.redact.values import Setting, is_placeholder, is_secret, is_stand_in

_TO_VALUE = re.compile(
    r"(?:\\{0,7}[\"'`][\])]{0,2})?"
    # {"name": "Cookie", "value": "a=b"}
    r"(?:(?:\s|\\[rn]){0,64}+,(?:\s|\\[rn]){0,64}+\\{0,7}[\"'][vV]alue\\{0,7}[\"']\s{0,4}+:\s{0,32}+"
    r"|[ \t]{0,16}+(?P<op>=>|:=|[:=,]|%3[aA])(?:[ \t]{0,16}+\[?(?:\s{0,64}+(?=[\"'`]))?))"
    r"(?P<open>(?:[rRbBuUfF]{1,2})?\\{0,7}[\"'`])?"
)
_SCHEME = re.compile(
    r"(?P<scheme>(?P<lists>digest|aws4-hmac-sha256|oauth|hawk|signature)"
    r"|bearer|basic|token|negotiate|ntlm|api-?key|key|jwt|ssws|private-token|genie-?key|splunk|bot)"
    r"(?:[ \t]|%20|\+){1,4}",
    re.IGNORECASE,
)
# Chars of a credential that are looked at before it is known to be one.
_LOOK = 512
_CREDENTIAL = re.compile(r"(?:[^\s\"'`\\<>;,&){}\]]++|\{[^{}\n]{0,120}\}|\{)++")
_PARAMETERS = re.compile(r"[^\r\n\\]*+")
_QUOTES_OUT = {quote: re.compile(rf"[^{quote}\r\n\\]*+") for quote in "\"'`"}
# Words that follow the name of a scheme in a sentence or a challenge, where a credential would be.
_PROSE = names.word_set(
    "token tokens auth authentication authorization authorisation header headers scheme schemes access credentials "
    "credential realm and or is the a an with for in not required user string type value values format only if"
)
_COOKIE = re.compile(
    r"(?P<name>[^\s=;,\"'`\\:(){}\[\]<>]{1,128}+)=(?P<value>[^;\s\"'`\\,]*+)(?P<next>;[ \t]{0,8}|%3[bB])?"
)
_FLAG = re.compile(r"(?:(?:secure|httponly|partitioned)(?:;[ \t]{0,8}))+", re.IGNORECASE)
_ATTRIBUTES = names.word_set("path domain expires max-age samesite secure httponly priority partitioned")


def authorization(text: str, end: int) -> Span | None:
    """The credential of the authorisation whose name ends at `end`."""
    link = _TO_VALUE.match(text, end)
    if not link or (link["op"] in (",", "=") and not link["open"]):
        return None
    at = link.end()
    scheme = _SCHEME.match(text, at)
    if not scheme:
        found = _CREDENTIAL.match(text, at, at + _LOOK)
        setting = Setting(type=names.TOKEN, name="authorization", quoted=bool(link["open"]))
        if not found or _SCHEME.match(found[0] + " ") or not is_secret(found[0], setting):
            return None
        return Span(at, _end_of(_CREDENTIAL, text, at), BY_PLACE, "authorization")
    kind = "basic-auth" if scheme["scheme"].lower() == "basic" else "bearer-token"
    if scheme["lists"]:
        quote = link["open"][-1] if link["open"] else ""
        parameters = _QUOTES_OUT[quote] if quote else _PARAMETERS
        found = parameters.match(text, scheme.end(), scheme.end() + _LOOK)
        if not found or "=" not in found[0] or is_stand_in(found[0]):
            return None
        return Span(scheme.end(), _end_of(parameters, text, scheme.end()), BY_PLACE, "authorization")
    found = _CREDENTIAL.match(text, scheme.end(), scheme.end() + _LOOK)
    if not found or is_placeholder(found[0]) or found[0].split("=")[0].lower().rstrip(".:") in _PROSE:
        return None
    return Span(scheme.end(), _end_of(_CREDENTIAL, text, scheme.end()), BY_PLACE, kind)


def cookies(text: str, end: int) -> tuple[list[Span], int]:
    """The values of the cookies in the header whose name ends at `end`, and where they end."""
    link = _TO_VALUE.match(text, end)
    if link and (link["open"] or link["op"] not in (",", "=")):
        return cookie_pairs(text, link.end())
    return [], end


def cookie_pairs(text: str, at: int) -> tuple[list[Span], int]:
    """The values of `name=value; name=value` at `at`, and where they end; attributes such as `Path` keep theirs.

    A caller that goes on behind the end looks at no pair twice, however many of them are placeholders.
    """
    spans: list[Span] = []
    found = _COOKIE.match(text, at)
    while found:
        at = found.end()
        if found["name"].lower() not in _ATTRIBUTES and not is_stand_in(found["value"]):
            spans.append(Span(found.start("value"), found.end("value"), BY_PLACE, "cookie"))
        if not found["next"]:
            break
        flag = _FLAG.match(text, at)
        found = _COOKIE.match(text, flag.end() if flag else at)
    return spans, at


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
