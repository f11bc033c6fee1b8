"""What package managers did: added, removed, resolved."""

import re

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.sight import Sight
from afterturn.condense.extract.words import words

PROGRAMS = words(
    "npm yarn pnpm bun pip pip3 uv poetry cargo mix go gem bundle apt apt-get brew dnf yum apk composer conda mamba"
)
VERBS = words(
    "install add remove uninstall update upgrade deps.get get sync ci i download tidy fetch create lock require"
)

_DID = re.compile(
    r"^(?:[*+] ?\S.*|Successfully (?:installed|uninstalled).*|Installing collected packages.*|(?:Adding"
    r"|Upgrading|Removing|Setting up|Unpacking) \S.*"
    r"|added \d+.*|removed \d+.*|changed \d+.*|up to date.*|go: (?:added|upgraded|downloading) .*|\d+ packages? .*)$"
)
_SECTION = re.compile(r"^(?:New|Added|Upgraded|Updated|Downgraded|Removed|Changed):\s*$", re.IGNORECASE)
_MAX_LINES = 5000


def read(view: Sight, digest: Digest) -> None:
    """Add the packages that came, went or changed; what merely was there already is left out."""
    found: dict[str, None] = {}
    inside = False
    for line in view.lines.all[:_MAX_LINES]:
        if _SECTION.match(line) is not None:
            inside = True
        elif inside and line.startswith((" ", "\t")):
            found.setdefault(line.strip())
        else:
            inside = False
            if _DID.match(line) is not None:
                found.setdefault(line.strip("*+ "))
    if found:
        digest.facts.append(Group("packages", list(found), share=70))
