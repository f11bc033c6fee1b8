import type { Message, RecapContext, Trace } from "./protocol.js";

/**
 * What a recap of a session can be drafted from, told from its traces: an editor holds no conversation of its own.
 * `traces` as `traces/list` gives them, the newest episode first.
 */
export function contextOf(traces: readonly Trace[]): RecapContext {
  const steps = inOrder(traces.filter((trace) => !trace.superseded && !trace.isSubagent));
  const last = steps.at(-1);
  return {
    messages: steps.flatMap((step, at) => messagesOf(step, steps[at - 1])),
    ...(last === undefined ? {} : { revision: `${steps.length} ${last.traceId}` }),
  };
}

function inOrder(traces: Trace[]): Trace[] {
  const ends = new Map<string, number>();
  for (const { episodeId, ts } of traces) ends.set(episodeId, Math.max(ts, ends.get(episodeId) ?? 0));
  const end = (trace: Trace): number => ends.get(trace.episodeId) ?? 0;
  return [...traces].sort((a, b) => end(a) - end(b) || a.stepIndex - b.stepIndex);
}

/** A step as the messages it was: the request where it is a new one, the calls with their results, what was said. */
function messagesOf(step: Trace, before: Trace | undefined): Message[] {
  const messages: Message[] = [];
  const goesOn = before?.episodeId === step.episodeId && before.userText === step.userText;
  if (step.userText !== "" && !goesOn) messages.push({ role: "user", content: step.userText, timestamp: step.ts });
  let said = step.agentText;
  for (const [at, call] of step.toolCalls.entries()) {
    const before = call.assistantTextBefore ?? "";
    if (said.startsWith(before)) said = said.slice(before.length).trimStart();
    messages.push(...callMessages(call, call.toolCallId ?? `${step.traceId}/${at}`, step.ts));
  }
  if (said !== "") messages.push({ role: "assistant", content: said, timestamp: step.ts });
  return messages;
}

function callMessages(call: Trace["toolCalls"][number], id: string, timestamp: number): Message[] {
  const { name, input, output } = call;
  const content = typeof output === "string" ? output : JSON.stringify(output ?? "");
  const isError = (call.errorCode ?? null) !== null;
  return [
    { role: "assistant", content: call.assistantTextBefore ?? "", toolCalls: [{ id, name, input }], timestamp },
    { role: "tool", content, toolCallId: id, toolName: name, isError, timestamp },
  ];
}
