"""How a call ended, in short phrases."""

from afterturn.condense.extract.call import Call
from afterturn.condense.extract.digest import Digest

# Of a result without text, or with a word in place of its image; no longer so where the images are told.
_NOTHING = ("no output", "empty", "image")


def outcome_of(call: Call, *, ran: bool = False) -> list[str]:
    """Exit code, refusal, time-out and the extent notes of the output, the most telling first.

    `ran`: the tool runs something, so that an exit code in its output is its own and not something it shows.
    """
    output = call.output
    phrases: list[str] = []
    if call.status == "notRun":
        phrases.append("not run")
    if call.status == "denied" or (output.ending == "denied" and output.chars < 1500):
        phrases.append("denied by the user")
    if ran and output.exit_code is not None:
        phrases.append(f"exit code {output.exit_code}")
    elif call.is_error and not phrases:
        phrases.append("error")
    if output.ending not in ("", "denied") and (
        call.is_error or output.exit_code not in (None, "0") or output.chars < 400
    ):
        phrases.append(output.ending)
    phrases.extend(output.notes)
    return phrases


def nothing_found(call: Call) -> bool:
    """Whether the output is no more than the note that there is nothing."""
    return call.output.chars < 200 and any(note.lower().startswith("no ") for note in call.output.notes)


def tell_images(images: str, digest: Digest) -> None:
    """Put what is said of a result's images first: it is told in any case, and short enough for the rest to follow."""
    digest.outcome = [images, *(phrase for phrase in digest.outcome if phrase not in _NOTHING)]
