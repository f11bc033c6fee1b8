"""Which of a model's bullets are passed on (condense.md, 'Checking a reply'). Loaded with the first model call."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from afterturn.condense.bullets import NOTHING, Bullet, extractive_bullets
from afterturn.condense.refusals import refuses, says_nothing
from afterturn.condense.serialise import PromptedCall
from afterturn.condense.untrusted import is_untrusted, without_refs
from afterturn.grounding import Source, is_grounded


class Checked(Struct, frozen=True):
    """Bullets fit to be passed on. replaced: failed and gave way to extractive ones; dropped: failed, about no call."""

    bullets: list[Bullet]
    replaced: int
    dropped: int


def check_bullets(
    bullets: Sequence[Bullet],
    calls: Sequence[PromptedCall],
    context: str,
    extractive: Callable[[int], Sequence[str]],
) -> Checked:
    """Keep what is grounded in its call and safe to pass on; what is not gives way to that call's extractive bullets.

    calls: as they were prompted, by position. context: the rest of the prompt's material. extractive: lines of a call.
    """
    whole = Source(context, *(text for call in calls for text in (call.tool_name, call.args, call.text)))
    sources = [Source(call.tool_name, call.args, call.text) for call in calls]
    kept: list[Bullet] = []
    given: set[int] = set()
    replaced = dropped = 0
    for bullet in bullets:
        source = whole if bullet.position is None else sources[bullet.position]
        tool_name = "" if bullet.position is None else calls[bullet.position].tool_name
        text = without_refs(bullet.text)
        if not bullet.text.strip(NOTHING):
            kept.append(bullet)  # a label alone, which still becomes its ref
        elif _says_something(text, source) and not is_untrusted(text, tool_name) and is_grounded(text, source):
            kept.append(Bullet(bullet.position, bullet.labelled, text))
        elif bullet.position is None:
            dropped += 1
        else:
            replaced += 1
            if bullet.position not in given:
                given.add(bullet.position)
                kept += extractive_bullets(bullet.position, extractive(bullet.position))
    return Checked(kept, replaced, dropped)


def _says_something(text: str, source: Source) -> bool:
    """Whether a bullet is about the work: no word for nothing, and no refusal but one that the output holds."""
    bare = text.strip(NOTHING)
    return not says_nothing(bare) and not (refuses(bare) and not source.holds_part(bare.split("\n", 1)[0]))
