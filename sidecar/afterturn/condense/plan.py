"""The whole of what a host has to apply (protocol.md, `condense/plan`)."""

from collections.abc import Sequence

from msgspec import to_builtins

from afterturn.condense import ports
from afterturn.condense.block_details import read_details
from afterturn.condense.identity import encoded, json_text, text_digest
from afterturn.condense.refs import block_id, short_id
from afterturn.condense.results import thawed
from afterturn_protocol.condense import PlannedBlock, PlannedReplacement, PlannedSummary, PlanResult


def made_plan(
    replacements: Sequence[ports.PlannedReplacement],
    summaries: Sequence[ports.FrozenBatch],
    blocks: Sequence[ports.StoredBlock],
) -> PlanResult:
    """The plan; its hash is equal as long as everything in it is."""
    planned = [
        PlannedReplacement(
            tool_call_id=each.tool_call_id,
            result_timestamp=each.result_timestamp,
            entry_id=each.entry_id,
            short_id=short_id(each.ref),
            text=each.text,
        )
        for each in replacements
    ]
    summed = [
        PlannedSummary(batch_id=each.batch_id, summary_text=each.summary or "", refs=thawed(each).refs)
        for each in summaries
    ]
    fused = [
        PlannedBlock(block_id=block_id(each.number), summary_text=each.text, refs=read_details(each.details).refs)
        for each in blocks
    ]
    parts = json_text(to_builtins((planned, summed, fused)))
    return PlanResult(
        replacements=planned,
        summaries=summed,
        blocks=fused,
        plan_hash=text_digest(encoded(parts)).hex()[:32],
    )
