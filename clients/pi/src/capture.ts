/** A finished piece of work as an episode: the branch since the last capture, minus what was omitted from it. */
import type * as afterturn from "@afterturn/client";
import { edits, type Tree } from "./branch.js";
import type { Entry, Message } from "./host.js";
import { blocks, isFailedAttempt, text, thinking, toolUses } from "./messages.js";

export const CAPTURED_ENTRY = "afterturn-captured";
/** Marks the end of a piece that was sent when the session ended, without an answer: it may be on disk or not. */
export const SENT_ENTRY = "afterturn-sent";

/** An episode, how it ended, and the last entry that is in it. */
export interface Piece {
  episode: afterturn.Episode;
  closedBy: "finalized" | "abandoned";
  upTo: string;
}

interface Said {
  entry: Entry;
  message: Message;
}

/**
 * The work since the last capture: one piece, or none where nobody asked for anything. Where pieces of it were sent
 * already, each ends where it ended then: the same again is there once, but as a part of another it would be twice.
 */
export function piecesOf(tree: Tree, sessionId: string): Piece[] {
  const ends = new Set(sentUpTo(tree));
  const runs: Said[][] = [];
  let run: Said[] = [];
  for (const each of spoken(tree.branch.slice(captured(tree) + 1))) {
    if (!run.length) runs.push(run);
    run.push(each);
    if (ends.has(each.entry.id)) run = [];
  }
  return runs.flatMap((said) => pieceOf(said, sessionId) ?? []);
}

function pieceOf(said: Said[], sessionId: string): Piece | undefined {
  const request = said.findLast(({ message }) => message.role === "user");
  const [first, last] = [said[0], said.at(-1)];
  if (!request || !first || !last) return undefined;
  return {
    upTo: last.entry.id,
    closedBy: ["stop", "length"].includes(last.message.stopReason ?? "") ? "finalized" : "abandoned",
    episode: {
      id: `${sessionId}:${request.entry.id}`,
      sessionId,
      startedAt: time(first),
      endedAt: time(last),
      turns: turnsOf(said),
    },
  };
}

/** Where the pieces ended that were sent without an answer. */
export function sentUpTo({ all }: Tree): string[] {
  return all.filter(({ customType }) => customType === SENT_ENTRY).map(({ data }) => upToIn(data) ?? "");
}

function upToIn(data: unknown): string | null | undefined {
  return ((data ?? {}) as { upTo?: string | null }).upTo;
}

/**
 * The last entry of the branch that was captured, -1 before the first. A capture holds all from the root to where it
 * ends; that may be on another branch, which parts from this one later.
 */
function captured({ branch, all }: Tree): number {
  const parents = new Map(all.map(({ id, parentId }) => [id, parentId]));
  const held = new Set<string>();
  for (const { customType, data } of all) {
    if (customType !== CAPTURED_ENTRY) continue;
    let at = upToIn(data);
    for (; at && !held.has(at); at = parents.get(at)) held.add(at);
  }
  return branch.findLastIndex(({ id }) => held.has(id));
}

function spoken(entries: Entry[]): Said[] {
  const edited = edits(entries);
  return entries.flatMap((entry): Said[] => {
    const { type, message } = entry;
    if (type !== "message" || !message || !["user", "assistant", "toolResult"].includes(message.role)) return [];
    if (edited.get(entry.id)?.replacement === null || isFailedAttempt(message)) return [];
    return [{ entry, message }];
  });
}

function time({ entry, message }: Said): number {
  return message.timestamp ?? Date.parse(entry.timestamp);
}

function turnsOf(said: Said[]): afterturn.Turn[] {
  const calls = new Map<string, { input: unknown; startedAt: number }>();
  const answered = new Set(said.map(({ message }) => message.toolCallId));
  return said.map((each): afterturn.Turn => {
    const { entry, message } = each;
    const turn = { id: entry.id, ts: time(each) };
    if (message.role === "user") return { ...turn, role: "user", content: blocks(message.content, false) };
    if (message.role === "toolResult") return { ...turn, role: "tool", content: null, meta: toolMeta(each, calls) };
    const uses = toolUses(message.content);
    for (const use of uses) calls.set(use.id, { input: use.input, startedAt: turn.ts });
    // Calls with a result have a turn of their own.
    const unanswered = uses.filter((use) => !answered.has(use.id));
    const thought = thinking(message.content);
    return {
      ...turn,
      role: "assistant",
      content: text(message.content),
      meta: {
        ...(thought ? { agentThinking: thought } : {}),
        ...(unanswered.length
          ? { toolCalls: unanswered.map(({ id, name, input }) => ({ toolCallId: id, name, input })) }
          : {}),
      },
    };
  });
}

function toolMeta(
  { message, ...rest }: Said,
  calls: Map<string, { input: unknown; startedAt: number }>,
): afterturn.TurnMeta {
  const call = calls.get(message.toolCallId ?? "");
  return {
    name: message.toolName ?? "",
    toolCallId: message.toolCallId ?? "",
    input: call?.input,
    output: text(message.content),
    endedAt: time({ message, ...rest }),
    ...(call ? { startedAt: call.startedAt } : {}),
    ...(message.isError ? { errorCode: "error" } : {}),
  };
}
