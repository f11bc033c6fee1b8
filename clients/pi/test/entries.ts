/** Entries of a session file, as short as a test can say them. */
import type { Tree } from "../src/branch.js";
import type { Entry, Message } from "../src/host.js";

let count = 0;

/** A branch of these, one after the other; ids are e1, e2, … */
export function branch(...entries: Partial<Entry>[]): Entry[] {
  count = 0;
  return entries.map((entry) => {
    const parentId = count ? `e${count}` : null;
    count += 1;
    return { type: "custom", id: `e${count}`, parentId, timestamp: `2026-01-01T00:00:0${count % 10}.000Z`, ...entry };
  });
}

/** A session that stands on this branch; `others` are on other branches. */
export const tree = (branch: Entry[], ...others: Entry[]): Tree => ({ branch, all: [...branch, ...others] });

export function message(role: string, content: unknown, more: Partial<Message> = {}): Partial<Entry> {
  return { type: "message", message: { role, content, timestamp: 1000, ...more } };
}

export const user = (text: string): Partial<Entry> => message("user", [{ type: "text", text }], { timestamp: 1 });

export function assistant(
  text: string,
  more: Partial<Message> = {},
  ...calls: [id: string, name: string][]
): Partial<Entry> {
  const uses = calls.map(([id, name]) => ({ type: "toolCall", id, name, arguments: { of: id } }));
  const said = text ? [{ type: "text", text }] : [];
  return message(
    "assistant",
    [...said, ...uses],
    { stopReason: uses.length ? "toolUse" : "stop", timestamp: 2, ...more },
  );
}

export function result(toolCallId: string, text: string, more: Partial<Message> = {}): Partial<Entry> {
  const content = [{ type: "text", text }];
  return message("toolResult", content, { toolCallId, toolName: "bash", isError: false, timestamp: 3, ...more });
}

export const failure = (): Partial<Entry> => message("assistant", [], { stopReason: "error" });

export function edit(targetId: string, content: unknown): Partial<Entry> {
  return { type: "context_edit", targetId, replacement: content === null ? null : { content } };
}

export const custom = (customType: string, data: unknown): Partial<Entry> => ({ type: "custom", customType, data });
