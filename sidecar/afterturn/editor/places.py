"""Names of `afterturn:` documents: whole originals, for editors that ask for their text. Pure."""

import re
from urllib.parse import quote, unquote

from afterturn.editor.finding import is_ref

SCHEME = "afterturn"

_DOCUMENT = re.compile(r"afterturn://original/(\w+)\.txt\?([^#]+)")


def document_uri(session_id: str, ref: str) -> str:
    """The URI of an original. The session's id may hold anything, and some editors take "%2F" in a path for "/"."""
    return f"{SCHEME}://original/{ref}.txt?{quote(session_id, safe='', errors='surrogatepass')}"


def document_of(uri: str) -> tuple[str, str] | None:
    """The session and the ref that a URI names; None for one that `document_uri` did not make."""
    match = _DOCUMENT.fullmatch(uri)
    if match is None or not is_ref(match[1]):
        return None
    return unquote(match[2], errors="surrogatepass"), match[1]
