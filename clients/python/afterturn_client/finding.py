"""Which server to start, and what it sees of our environment (clients.md, 'Finding the server')."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from afterturn_client.errors import ServerNotFound

PATH_VARIABLE = "AFTERTURN_PATH"

_PASSED_ON = frozenset(
    "HOME LANG LANGUAGE LOGNAME PATH SHELL TEMP TERM TMP TMPDIR TZ USER SSL_CERT_DIR SSL_CERT_FILE REQUESTS_CA_BUNDLE"
    " HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY".split()
)
_PASSED_ON_PREFIXES = ("AFTERTURN_", "LC_", "XDG_")


def find_server(command: Sequence[str] | None, environ: Mapping[str, str]) -> list[str]:
    """The command without its options: the given one, else what AFTERTURN_PATH names, else the `afterturn` of this
    very interpreter, else the one on PATH. Raises ServerNotFound.

    Whether what was found speaks our protocol shows in the handshake.
    """
    if command is not None:
        if not command:
            raise ServerNotFound("the command is empty")
        return list(command)
    named = environ.get(PATH_VARIABLE)
    if named:
        if not shutil.which(named, path=""):
            raise ServerNotFound(f"{PATH_VARIABLE} is {named!r}, which is no program that can be started")
        return [named]
    if sys.executable and find_spec("afterturn") is not None:
        # As isolated as -I, but for the user's own site-packages, which is where it may be installed.
        return [sys.executable, "-E", "-P", "-m", "afterturn"]
    found = shutil.which("afterturn", path=environ.get("PATH", os.defpath))
    if found:
        return [found]
    raise ServerNotFound(
        f"there is no afterturn: not in {sys.executable or 'this interpreter'}, not on PATH. Install it with"
        f" `pip install afterturn`, or set {PATH_VARIABLE} to its executable (`afterturn doctor` prints it)"
    )


def safe_environment(environ: Mapping[str, str], extra: Mapping[str, str] | None) -> dict[str, str]:
    """What a server needs to find its files, its language and the network, and `extra`. Keys are not passed on."""
    kept = {
        name: value
        for name, value in environ.items()
        if name.upper() in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
    }
    return {**kept, **(extra or {})}
