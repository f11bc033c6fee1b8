"""Wide names: what says password, token or key in other scripts than ASCII, `密码：…`, `パスワードは「…」`."""

import re
from collections.abc import Iterator

from afterturn.redact import names
from afterturn.redact.span import BY_NAME, Span
from afterturn.redact.values import Setting, is_secret

# No name has more chars.
LONGEST = 16
_TYPES = {
    **dict.fromkeys(
        "密码 密碼 口令 パスワード パスフレーズ 비밀번호 пароль Пароль contraseña Contraseña".split(),
        names.PASSWORD,
    ),
    **dict.fromkeys(("令牌", "トークン", "토큰", "токен", "Токен"), names.TOKEN),
    **dict.fromkeys(("密钥", "密鑰", "秘钥", "金鑰", "秘密鍵", "シークレット"), names.SECRET),
    "APIキー": names.API_KEY,
}
_NAME = re.compile("|".join(_TYPES))
# Every name has one of these, which are quicker to look for than the names.
_PARTS = ("密", "令", "秘", "鑰", "パス", "トークン", "シーク", "キー", "비밀", "토큰", "ароль", "окен", "señ")
_LINK = re.compile(
    "[\"'`”」』*]{0,3}[ \t]{0,4}(?:(?:是|为|為|は|이|는)[ \t]{0,2}[:：]?|[:：=＝])[ \t]{0,4}\\**[ \t]{0,2}"
    "(?P<open>(?:\\\\{0,7}[\"'`「『“])?)"
)
_VALUE = re.compile(r"(?=[!-/:-@\[-`{-~]{0,8}[A-Za-z0-9])[!#-&(-+\--:<-\[\]-_a-~]{1,4096}")
_ENDS_LINE = re.compile(r"[ \t]{0,64}(?:[\r\n]|\\[rn]|\Z)")


def wide_names(text: str, start: int, stop: int) -> Iterator[Span]:
    """The values of the wide names that begin in `text[start:stop]`."""
    piece = text[start : stop + LONGEST]
    if not any(part in piece for part in _PARTS):
        return
    for name in _NAME.finditer(text, start, min(len(text), stop + LONGEST)):
        if name.start() >= stop:
            return
        link = _LINK.match(text, name.end())
        value = _VALUE.match(text, link.end()) if link else None
        if not link or not value:
            continue
        end = value.end()
        while end > value.start() and text[end - 1] in ".:!)":
            end -= 1
        setting = Setting(
            type=_TYPES[name[0]],
            name=name[0],
            quoted=bool(link["open"]),
            alone=bool(_ENDS_LINE.match(text, end)),
        )
        if is_secret(text[value.start() : end], setting):
            yield Span(value.start(), end, BY_NAME, setting.type)
