"""Traces to search in: made of pieces of real sessions, so that words are as frequent as they are."""

import random
from collections.abc import Iterator, Sequence

from afterturn.capture.embedder import Embedder
from afterturn.capture.rows import TraceRow
from afterturn.capture.vectors import texts_of
from afterturn_protocol.blocks import content_text
from afterturn_protocol.traces import Reflection, ToolCallDTO, Trace, TraceVectors
from bench.transcripts import files, read

PIECE_CHARS = 240
CHINESE = "我们先检查解析器的错误然后运行测试再修复数据库连接配置文件中问题最后提交代码更新文档服务返回超时请求失败缓存"


def pieces() -> list[str]:
    """Paragraphs of real sessions; what tools gave back among them. [] where there are no sessions."""
    found: list[str] = []
    for file in files():
        for session in read(file):
            for call in session.calls:
                found += _cut(content_text(call.result or ""))[:20]
            for turn in session.turns:
                found += _cut(turn.assistant_text or "")
    return found


def _cut(text: str) -> list[str]:
    return [text[start : start + PIECE_CHARS] for start in range(0, min(len(text), 20_000), PIECE_CHARS)]


def traces(count: int, material: Sequence[str], seed: int) -> Iterator[Trace]:
    """So many traces, fifty to an episode; one in ten in Chinese."""
    dice = random.Random(seed)

    def text(size: int) -> str:
        if dice.random() < 0.1:
            return "".join(dice.choice(CHINESE) for _ in range(40 * size))
        return " ".join(dice.choice(material) for _ in range(size))

    for number in range(count):
        episode, step = divmod(number, 50)
        call = ToolCallDTO(name=dice.choice(["bash", "read_file", "edit"]), input={"command": text(1)}, output=text(4))
        yield Trace(
            trace_id=f"tr_{dice.getrandbits(100):026x}", episode_id=f"episode {episode}", session_id="s", project="p",
            turn_id=str(number), step_index=step, ts=number, user_text=text(1), agent_text=text(2), tool_calls=[call],
            reflection=Reflection(text=text(1), alpha=0.5, usable=True, source="adapter"), depth=0, is_subagent=False,
            superseded=False, tags=["shell"], error_signatures=[], truncated=False, value=0.0, r_human=None,
            priority=0.0, vectors=TraceVectors(summary=False, action=False), schema_version=1,
        )  # fmt: skip


async def with_vectors(found: Sequence[Trace], embedder: Embedder) -> list[TraceRow]:
    """The traces as rows, with their vectors."""
    import msgspec

    pairs = [texts_of(trace) for trace in found]
    vectors = await embedder.embed([text or "-" for pair in pairs for text in pair])
    held = TraceVectors(summary=True, action=True, model=embedder.model, dimension=embedder.dimension)
    return [
        TraceRow(
            trace=msgspec.structs.replace(trace, vectors=held),
            content=trace.trace_id.encode().ljust(32)[:32],
            summary_vector=vectors[2 * index],
            action_vector=vectors[2 * index + 1],
        )
        for index, trace in enumerate(found)
    ]
