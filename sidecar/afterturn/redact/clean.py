"""A quick look at a short text, for most have nothing in them at which a scan would stop."""

# Chars; in a longer text the scan's own passes are as quick.
SHORT = 1024
# A key known by its form has a run of so many letters, digits, `_` and `-`.
RUN = 20
_IN_WORD = b"w"
CLASSES = bytes(
    _IN_WORD[0] if (chr(code).isalnum() and code < 128) or code in b"_-" else b" "[0] for code in range(256)
)
_RUN = _IN_WORD * RUN


def is_clean(text: str) -> bool:
    """Whether the text has none of the literals and runs at which a scan stops; False says nothing."""
    low = text.lower()
    # Spelled out, for a loop over a list of them takes four times as long.
    return not (
        "ken" in low
        or "key" in low
        or "pass" in low
        or "kie" in low
        or "pwd" in low
        or ("cre" in low and ("cret" in low or "cred" in low))
        or "zation" in low
        or "@" in low
        or "\x1b" in low
        or "\x00" in low
        or "u001b" in low
        or "sig=" in low
        or ("~" in low and "q~" in low)
        or "identified " in low
        or "curl" in low
        or "sudo" in low
        or "securestring" in low
        or ("auth" in low and ("auth(" in low or "auth=(" in low or "auth = (" in low))
        or ("\\" in low and "net use " in low)
        or (" -" in low and (" -p" in low or " -a" in low or " -w" in low or " -k" in low or "%" in low))
        or not text.isascii()
        or text.encode().translate(CLASSES).find(_RUN) >= 0
    )
