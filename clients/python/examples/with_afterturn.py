"""The small agent with afterturn: results shrink once the model has read them, and it can call any of them back."""

import sys
import time

from small_agent import TOOLS, Step, agent

from afterturn_client.sync import Afterturn
from afterturn_protocol.condense import Batch, SummarizeParams, ToolCall
from afterturn_protocol.refs import ResolveRefParams

with Afterturn.start() as client:
    session = f"small-agent-{time.time()}"

    def recall(refs: list[str]) -> str:
        found = client.condense.resolve_ref(ResolveRefParams(session_id=session, refs=refs))
        return "\n".join([one.text for one in found.records] + [f"{one.ref}: {one.reason}" for one in found.missing])

    def condense(steps: list[Step]) -> None:
        calls = [
            ToolCall(tool_call_id=call["id"], tool_name=call["function"]["name"], args=call["function"]["arguments"],
                     result_text=message["content"])
            for call, message in steps
        ]  # fmt: skip
        batch = Batch(turn_index=0, timestamp=int(time.time() * 1000), tool_calls=calls)
        result = client.condense.summarize(SummarizeParams(session_id=session, batch=batch))
        for item in filter(lambda item: item.replacement, result.items):
            steps[item.index][1]["content"] = item.replacement

    print(agent(sys.argv[1], {**TOOLS, "context_tree_query": ("refs", recall)}, condense))
