"""What followed a step, for scoring long episodes step by step (seed core-capture, section 6b). Lengths are chars.

Computed before any call is made, from reflections that were there already, so that steps can be scored at once.
"""

from collections.abc import Sequence

from afterturn.capture.material import prompt_json
from afterturn.capture.normalising import capped, json_text
from afterturn.capture.steps import Step
from afterturn.text import cut
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import Reflection

MOST_STEPS = 3


def wants_downstream(settings: CaptureSettings, steps: int) -> bool:
    """Whether steps that are scored one by one are shown what followed."""
    return (
        settings.reflection_context_mode == "task_downstream"
        and settings.long_episode_reflect_mode == "per_step_downstream"
        and settings.downstream_step_count > 0
        and (settings.batch_mode == "per_step" or steps > settings.batch_threshold)
    )


def previews(steps: Sequence[Step], reflections: Sequence[Reflection], settings: CaptureSettings) -> list[str]:
    """For each step the text of what followed it, "" where nothing did."""
    return [_preview(index, steps, reflections, settings) for index in range(len(steps))]


def _preview(index: int, steps: Sequence[Step], reflections: Sequence[Reflection], settings: CaptureSettings) -> str:
    blocks: list[str] = []
    left = settings.downstream_context_max_chars
    for offset in range(1, min(settings.downstream_step_count, MOST_STEPS) + 1):
        at = index + offset
        if at >= len(steps) or left <= 0:
            break
        room = min(settings.downstream_per_step_max_chars, left)
        block = _block(steps[at], reflections[at], room)
        left -= len(block)
        blocks.append(f"step+{offset}: {prompt_json(block)}")
    return "\n".join(blocks)


def _block(step: Step, reflection: Reflection, room: int) -> str:
    given = reflection.text if reflection.source in ("adapter", "extracted") else None
    note = cut(f"\nreflection: {given}", room // 2) if given else ""
    if step.calls:
        # Every tool is named before any output takes the room.
        names = "tools: " + ", ".join(dict.fromkeys(call.name for call in step.calls))
        failed = "".join(f"\n{call.name} failed: {call.error_code}" for call in step.calls if call.error_code)
        outputs = "".join(f"\n{call.name}: {json_text(call.output)}" for call in step.calls if call.output)
        body = names + failed + outputs
    else:
        body = "\n".join(
            f"{label}: {text}" for label, text in (("state", step.user_text), ("action", step.agent_text)) if text
        )
    return capped(body, room - len(note)) + note
