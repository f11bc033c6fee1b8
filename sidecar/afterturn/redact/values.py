"""Values: is what stands behind a secret name a secret, or a placeholder, a lookup, a type, a word of a sentence.

Every rule looks at no more than the first 256 chars of a value.
"""

import re

from msgspec import Struct

from afterturn.redact import names
from afterturn.redact.span import CUT_MARKER, MARKER

_LOOKED_AT = 256

_MASK = re.compile(r"[*xX.\u2022\u2026#_-]{3,}+")
_HALF_MASK = re.compile(r"\S{0,12}(?:\*{3,}+|\.{3}|\u2026)\S{0,6}")
# Every reference has one of these; to look for them first costs a tenth.
_REFERENCE_MARK = re.compile(r"[${%<\[:/]")
_REFERENCE = re.compile(
    r"(?=[$#{%<\[aefkosv])(?:\$\{\{[^{}]*+\}\}|\$\{[^{}]*+\}|\$\([^)]*\)?"  # workflow files, shells
    r"|\$env:\w+|\$[A-Z_][A-Z0-9_]*\b|\$[A-Za-z_]+\b"
    r"|\{\{[^{}]*+\}\}|#?\{[^{}\n]*+\}|%\(\w+\)s|%[sdrv]\b|%[A-Za-z_]\w*%"  # templates and formats
    r"|os\.environ/\w+|<[^<>]*>?|\[[A-Za-z ]+\]?|\b(?:env|vault|op|file|ssm|arn|keyring|sops):/{0,2}[A-Za-z_].*)"
)
# What begins so is code where no quotes are: a pointer, a tag, an operator.
_OPERATOR = re.compile(r"[*&|?!@(][A-Za-z_ ]*[)]?|[*&][A-Za-z_]{3,}\d?|[{\[].*")
_MARKERS = re.compile(rf"(?:{MARKER})++")
# The value may end inside one.
_CUT_MARKER = re.compile(rf"{CUT_MARKER}(?:\]|\Z)")
_NO_VALUE = names.word_set(
    "null none nil undefined true false yes no on off void any unknown never str string bool boolean int integer "
    "number float double bytes byte object array list dict map set uuid char varchar text type optional required "
    "missing invalid empty unset redacted hidden masked filtered changed expired revoked value default example "
    "sample dummy placeholder todo tbd changeme change-me change_me replaceme replace-me replace_me n/a self this "
    "await new not function lambda async const let var return is was are were must should can may will the a an and "
    "or for to in of from with"
)
_STAND_IN = re.compile(
    r"(?:your|my|the|some|an?|insert|enter|put|replace|example|sample|dummy)[-_ ].*"
    r"(?:key|token|secret|passw|passphrase|pwd|value|here|with|name|user).*",
    re.IGNORECASE,
)
# A chain of names, and what can follow one in code: a call, an index, a generic type.
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_CHAIN = re.compile(r"[A-Za-z_$][\w$]*+(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*+)++[!?]?")
_CALL = re.compile(r"[A-Za-z_$][\w$]*+(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*+)*+[!?]{0,2}[(\[{].*", re.DOTALL)
_TYPE_NAME = re.compile(r"(?:[A-Z][a-z]+)+\d{0,3}|[iuf](?:8|16|32|64|128)")
_PATH = re.compile(
    r"~|(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.@ -]{1,40}[\\/])*[\w.@ -]{0,40}"
    r"|(?:[\w.-]{1,30}/)+[\w-]{1,30}\.\w{1,5}"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|urn:")
# Kinds of tokens in lexers and highlighters: `IDENT`, `keyword.operator`.
_TOKEN_KIND = re.compile(r"[A-Z]{2,12}(?:_[A-Z]{1,12}){0,3}\d?|[a-z]{2,16}(?:\.[a-z]{2,16})+\d?")
# Digits inside a word, which are in passwords but in few names of code.
_DIGITS_INSIDE = re.compile(r"(?!(?:sha|md|base|utf|aes|rsa|oauth|s|v)\d)[a-z]+\d+[a-z]+(?:\d+[a-z]*)*", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_OTHER = re.compile(r"[\d!@#$%^&*+=/~?]")
# A part of a word that a sentence may say of a secret: `sha256`, `base64-encoded`, `12-chars`.
_TOLD_PART = re.compile(
    r"[A-Za-z]*|\d{1,4}|(?:sha|md|base|utf|aes|rsa|hs|rs|es|ps|ed|bcrypt|argon|pbkdf|v|x|oauth|http|tls|ssl|rfc|iso)"
    r"\d{1,5}[a-z]{0,3}\d?",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"\w@[\w-]+\.\w")
_UPPER = re.compile(r"[A-Z]")
_LOWER = re.compile(r"[a-z]")
_PLAIN = re.compile(r"[A-Za-z]++(?:[-_. ][A-Za-z]++)*+")


class Setting(Struct, frozen=True):
    """How a value stands in the text.

    type: what its name says. name: the name itself. quoted: in quotes. compared: behind `==`, as a second item of a
    pair, or so: not clearly given to the name. bare: `NAME=value` as a shell, an environment file or a query has it.
    alone: the value ends its line. header: the name is one of a header, `X-Api-Key`. told: in a sentence, `the
    password is value`.
    """

    type: str
    name: str
    quoted: bool
    compared: bool = False
    bare: bool = False
    alone: bool = False
    header: bool = False
    told: bool = False


def is_stand_in(value: str) -> bool:
    """The value stands for one that is elsewhere: a mask, a reference, an earlier marker, nothing at all."""
    value = value[:_LOOKED_AT]
    if not value or value.lower() in _NO_VALUE or _is_mask(value):
        return True
    if not _REFERENCE_MARK.search(value):
        return False
    if _MARKERS.fullmatch(value):
        return True
    rest, references = _REFERENCE.subn("", value)
    return bool(references) and not _is_random(rest, 8)


def is_placeholder(value: str) -> bool:
    """A stand-in, or words that ask for the value: `your-api-key-here`."""
    return is_stand_in(value) or bool(_STAND_IN.fullmatch(value[:_LOOKED_AT]))


def is_secret(value: str, setting: Setting) -> bool:
    """Whether the value of a secret name is a secret; the markers in it are taken for nothing."""
    value = value[:_LOOKED_AT]
    if "[REDACTED:" in value:
        value = _CUT_MARKER.sub("", value)
    if not setting.quoted and len(value) < 12 and value.isalpha() and not _may_be_word(setting):
        return False
    name, low = setting.name.lower(), value.lower()
    if is_placeholder(value) or low in (setting.type, name):
        return False
    if value.isdecimal():
        is_given = setting.alone if setting.told else not setting.compared
        return setting.type == names.PASSWORD and is_given and len(value) > 3
    if _is_address(value):
        return False
    if not setting.quoted and value[-1] in "12" and low[:-1] == name:  # `password=password1`
        return False
    plain = bool(_PLAIN.fullmatch(value))
    if plain and low[0] in name and set(names.words(value)) <= set(names.words(setting.name)):
        return False
    if setting.told and not setting.quoted:
        return _is_told(value, setting)
    if setting.compared or setting.told:
        return setting.quoted and " " not in value and _is_random(value, 6) and not _names_secret(value)
    return _quoted_secret(value, plain, setting) if setting.quoted else _unquoted_secret(value, plain, setting)


def _may_be_word(setting: Setting) -> bool:
    """Whether one word of letters, without quotes, can be the secret."""
    return setting.alone or setting.bare or setting.header


def _quoted_secret(value: str, plain: bool, setting: Setting) -> bool:
    if " " in value or "\t" in value:
        # A passphrase may have blanks, but so has the label of a form; other secrets have none.
        return setting.type == names.PASSWORD and not _is_sentence(value)
    if setting.type == names.PASSWORD:
        return not (plain and _names_secret(value))
    if setting.type == names.TOKEN and _TOKEN_KIND.fullmatch(value) and not _names_secret(value):
        return False
    if not plain:
        return len(value) >= 4 and any(char.isalnum() for char in value)
    if setting.type == names.TOKEN:
        return _is_shuffled(value) or (len(value) >= 20 and value.isalpha())
    return len(value) >= 4 and not _names_secret(value) and "credential" not in setting.name.lower()


def _unquoted_secret(value: str, plain: bool, setting: Setting) -> bool:
    if setting.header:
        return len(value) >= 8 and not _names_secret(value) and not _OPERATOR.fullmatch(value)
    if _is_code(value):
        return False
    if plain:
        given = setting.type == names.PASSWORD and setting.alone and not _names_secret(value)
        return setting.bare or given or _is_shuffled(value)
    if setting.type != names.PASSWORD and not setting.bare and _TYPE_NAME.fullmatch(value):
        return False
    if _IDENTIFIER.fullmatch(value) and _names_secret(value) and not setting.bare:
        return setting.type == names.PASSWORD and bool(_DIGITS_INSIDE.fullmatch(value))
    return _is_random(value, 6 if setting.type == names.PASSWORD or setting.bare else 8)


def _is_told(value: str, setting: Setting) -> bool:
    """Whether what a sentence says of a secret is its value: more than a word, a version, an algorithm or a host."""
    digits = sum(map(str.isdecimal, value))
    if len(value) < 6 or not digits or not _LETTER.search(value) or _names_secret(value) or _is_code(value):
        return False
    if all(_TOLD_PART.fullmatch(part) for part in re.split(r"[-_.]", value)) or "/" in value or _EMAIL.search(value):
        return False
    if digits > 1 or _OTHER.search(value.strip("0123456789")):
        return not (value.islower() and "." in value)
    return setting.alone and "." not in value and value.rstrip("0123456789").lower() not in _NO_VALUE


def _is_mask(value: str) -> bool:
    if _MASK.fullmatch(value):
        return True
    return ("***" in value or "..." in value or "\u2026" in value) and bool(_HALF_MASK.fullmatch(value))


def _is_address(value: str) -> bool:
    """The value is a URL, or a path without a part that looks random."""
    if ":" in value and _URL.match(value):
        return True
    if "/" not in value and "\\" not in value and value != "~":
        return False
    return bool(_PATH.fullmatch(value)) and not _is_random(value.replace("/", ""), 24)


def _is_code(value: str) -> bool:
    if _OPERATOR.fullmatch(value) or _CALL.fullmatch(value):
        return True
    return bool(_CHAIN.fullmatch(value)) and not _has_random_part(value)


def _is_sentence(value: str) -> bool:
    return _names_secret(value) or any(word.strip(".,:;!").lower() in _NO_VALUE for word in value.split())


def _names_secret(value: str) -> bool:
    low = value.lower()
    # What every name that says secret has in it, spelled out, for a loop takes four times as long.
    if not (
        "pass" in low
        or "pwd" in low
        or "token" in low
        or "secret" in low
        or "key" in low
        or "credential" in low
        or "cookie" in low
        or "authorization" in low
    ):
        return False
    return any(names.secret_type(word) for word in (value, *value.split()))


def _is_random(value: str, least: int) -> bool:
    """Digits or marks among letters, or letters in no order of case: no word and no plain number."""
    if len(value) < least:
        return False
    return bool(_LETTER.search(value) and _OTHER.search(value)) or _is_shuffled(value)


def _is_shuffled(value: str) -> bool:
    """Letters whose case changes too often for words: `wJalrXUtnFEMI`."""
    if len(value) < 12 or value.islower() or value.isupper():
        return False
    upper, lower = len(_UPPER.findall(value)), len(_LOWER.findall(value))
    return min(upper, lower) * 4 >= len(value) and len(names.words(value)) * 3 >= len(value)


def _has_random_part(chain: str) -> bool:
    return any(
        len(part) >= 20 and sum(char.isdigit() for char in part) >= 3 and any(char.isalpha() for char in part)
        for part in re.split(r"\?\.|\.|::|->", chain)
    )
