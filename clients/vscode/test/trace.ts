import type { Trace } from "../src/protocol.js";

/** A trace with these fields, and plain ones beside. */
export function trace(fields: Partial<Trace> = {}): Trace {
  return {
    traceId: "tr_1",
    episodeId: "e1",
    sessionId: "s1",
    turnId: "#1",
    stepIndex: 0,
    ts: 1_000_000,
    userText: "",
    agentText: "",
    toolCalls: [],
    reflection: { text: null, alpha: 0, usable: false, source: "none" },
    depth: 0,
    isSubagent: false,
    superseded: false,
    tags: [],
    errorSignatures: [],
    truncated: false,
    value: 0,
    rHuman: null,
    priority: 0,
    vectors: { summary: false, action: false },
    schemaVersion: 1,
    ...fields,
  };
}
