import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../src/context.js";
import type { Trace } from "../src/protocol.js";
import { trace } from "./trace.js";

/** Messages in a few words each: role, text, and what it calls or answers. */
function brief(traces: Trace[]): string[] {
  return contextOf(traces).messages.map(({ role, content, toolCalls, toolCallId, isError }) => {
    const calls = (toolCalls ?? []).map(({ name, input }) => ` ${name}(${JSON.stringify(input)})`).join("");
    return `${role}: ${String(content)}${calls}${toolCallId ? ` <${toolCallId}${isError ? " failed" : ""}>` : ""}`;
  });
}

const CASES: Record<string, [Trace[], string[]]> = {
  "no traces": [[], []],
  "a request and its answer": [[trace({ userText: "Why?", agentText: "So." })], ["user: Why?", "assistant: So."]],
  "episodes from the oldest on, steps in order": [
    [
      trace({ episodeId: "new", ts: 20, userText: "b", agentText: "2" }),
      trace({ episodeId: "old", ts: 10, stepIndex: 1, userText: "a", agentText: "1b" }),
      trace({ episodeId: "old", ts: 9, stepIndex: 0, userText: "a", agentText: "1a" }),
    ],
    ["user: a", "assistant: 1a", "assistant: 1b", "user: b", "assistant: 2"],
  ],
  "the same request of another episode is a request again": [
    [
      trace({ episodeId: "new", ts: 20, userText: "go on", agentText: "2" }),
      trace({ episodeId: "old", ts: 10, userText: "go on", agentText: "1" }),
    ],
    ["user: go on", "assistant: 1", "user: go on", "assistant: 2"],
  ],
  "calls with their results, and what was said before them": [
    [
      trace({
        userText: "Fix it",
        agentText: "Let me look.\n\nFixed.",
        toolCalls: [
          { name: "read", input: { path: "a" }, output: "text", toolCallId: "c1", assistantTextBefore: "Let me look." },
          { name: "edit", input: null, output: { ok: false }, toolCallId: "c2", errorCode: "denied" },
        ],
      }),
    ],
    [
      "user: Fix it",
      'assistant: Let me look. read({"path":"a"})',
      "tool: text <c1>",
      "assistant:  edit(null)",
      'tool: {"ok":false} <c2 failed>',
      "assistant: Fixed.",
    ],
  ],
  "a call without an id gets one of its own": [
    [trace({ traceId: "tr_9", toolCalls: [{ name: "ls", input: {}, output: "a" }] })],
    ["assistant:  ls({})", "tool: a <tr_9/0>"],
  ],
  "what was superseded, and what a sub-agent did, is left out": [
    [trace({ agentText: "old", superseded: true }), trace({ agentText: "sub", isSubagent: true })],
    [],
  ],
};

for (const [name, [traces, expected]] of Object.entries(CASES)) {
  test(`the context of a session: ${name}`, () => assert.deepEqual(brief(traces), expected));
}

test("the context's revision changes with the last step and with the number of steps, and not by itself", () => {
  const one = trace({ traceId: "tr_1", agentText: "a" });
  const two = trace({ traceId: "tr_2", agentText: "b", stepIndex: 1 });
  const revisions = [[one], [two], [one, two], [one]].map((traces) => contextOf(traces).revision);
  assert.equal(new Set(revisions).size, 3);
  assert.equal(revisions[0], revisions[3]);
});
