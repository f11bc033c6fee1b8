"""Where each call of a batch stands once it is archived, and the `items` that say so (condense.md, 'Order of work').

Every call of the batch has exactly one item, in order, whatever becomes of the batch (case C12).
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from afterturn.condense.calls import PROTECTED, RECOVERED, Call
from afterturn.condense.ports import Placed
from afterturn.condense.refs import short_id
from afterturn.condense.replacements import duplicate_replacement, shorter
from afterturn_protocol.condense import CondenseItem

LEFT = "left"
DUPLICATE = "duplicate"


class Standing(Struct, frozen=True):
    """One call with its place in the archive.

    state: LEFT (to be summarised), DUPLICATE, PROTECTED, RECOVERED or INCOMPLETE.
    position: for LEFT, its place in label order, from 0; the very same call twice in a batch has one position.
    """

    call: Call
    placed: Placed | None
    state: str
    position: int | None


def stand(calls: Sequence[Call], placed: Sequence[Placed], dedup: bool) -> list[Standing]:
    """The standing of each call. placed: of the archived calls, in order."""
    places = iter(placed)
    positions: dict[int, int] = {}
    found: list[Standing] = []
    for call in calls:
        place = next(places) if call.archived else None
        if place is None or call.kind == PROTECTED:
            found.append(Standing(call, place, call.kind, None))
        elif dedup and place.first_ref < place.ref:
            found.append(Standing(call, place, DUPLICATE, None))
        else:
            position = positions.setdefault(place.ref, len(positions))
            found.append(Standing(call, place, LEFT, position))
    return found


def left(standings: Sequence[Standing]) -> list[Standing]:
    """What is to be summarised, in label order, each call once."""
    by_position = {each.position: each for each in reversed(standings) if each.position is not None}
    return [by_position[position] for position in range(len(by_position))]


def pointers(standings: Sequence[Standing], recovery_tool_name: str) -> dict[int, str]:
    """Replacements of duplicates, by ref: the one already given, or a pointer if that is shorter than the result."""
    found: dict[int, str] = {}
    for each in standings:
        if each.state != DUPLICATE or each.placed is None:
            continue
        place = each.placed
        pointer = duplicate_replacement(short_id(place.ref), short_id(place.first_ref), recovery_tool_name)
        text = place.replacement or shorter(pointer, len(each.call.text))
        if text is not None:
            found[place.ref] = text
    return found


def items(
    standings: Sequence[Standing],
    replacements: Mapping[int, str],
    recovered: Mapping[int, str],
    *,
    summarized: bool,
) -> list[CondenseItem]:
    """One item for each call. replacements: by ref. recovered: short ids of recovered originals, by index."""
    return [_item(each, replacements, recovered, summarized) for each in standings]


def _item(
    standing: Standing, replacements: Mapping[int, str], recovered: Mapping[int, str], summarized: bool
) -> CondenseItem:
    call, place = standing.call, standing.placed
    replacement = None
    if place is not None and standing.state in (LEFT, DUPLICATE):
        replacement = replacements.get(place.ref)
    state = standing.state
    if state == LEFT:
        state = "condensed" if summarized or replacement is not None else "passthrough"
    return CondenseItem(
        index=call.index,
        tool_call_id=call.tool_call_id,
        result_timestamp=call.result_timestamp,
        entry_id=call.entry_id,
        turn_index=call.turn_index,
        short_id=short_id(place.ref) if place is not None else recovered.get(call.index),
        recovered_refs=list(call.recovered) if state == RECOVERED else None,
        state=state,
        duplicate_of=short_id(place.first_ref) if place is not None and state == DUPLICATE else None,
        replacement=replacement,
    )
