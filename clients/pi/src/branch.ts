/**
 * What a branch of a session holds, from the root to the leaf: what the model sees of it, and what was kept in it.
 *
 * pi has a projection of its own, but only the newer line shows it to extensions; both lines write the same entries.
 */
import type * as afterturn from "@afterturn/client";
import type { Entry, Message, Model, SessionManager } from "./host.js";
import { contextMessage, isFailedAttempt, text } from "./messages.js";

export const RECAP_ENTRY = "session-recap";

/** Enough for the window of a recap (30) with everything that is left out of it. */
const CONTEXT_MESSAGES = 80;

/** A session's entries. What is kept in it stands on the branch on which the session was when that came. */
export interface Tree {
  branch: Entry[];
  /** Those of every branch. */
  all: Entry[];
}

export function treeOf(session: SessionManager): Tree {
  return { branch: session.getBranch(), all: session.getEntries() };
}

export interface Seen {
  entry: Entry;
  message: Message;
}

/** The entries that the model's context is built from: those since the latest compaction, and what it kept. */
function active(branch: Entry[]): Entry[] {
  const at = branch.findLastIndex((entry) => entry.type === "compaction");
  const compaction = branch[at];
  if (!compaction) return branch;
  const kept = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  return [compaction, ...(kept >= 0 && kept < at ? branch.slice(kept, at) : []), ...branch.slice(at + 1)];
}

/** The latest edit of each entry that was edited. */
export function edits(branch: Entry[]): Map<string, Entry> {
  return new Map(
    branch.filter((entry) => entry.type === "context_edit").map((entry) => [entry.targetId ?? "", entry]),
  );
}

function source(entry: Entry, first: boolean): Message | undefined {
  const timestamp = Date.parse(entry.timestamp);
  const content = entry.content;
  if (entry.type === "message" && entry.message?.role !== "system") return entry.message;
  if (entry.type === "custom_message") return { role: "custom", content, timestamp };
  if (entry.type === "branch_summary") return { role: "branchSummary", summary: entry.summary ?? "", timestamp };
  // Of several compactions the latest counts; it stands first.
  if (entry.type === "compaction" && first) {
    return { role: "compactionSummary", summary: entry.summary ?? "", timestamp };
  }
  return undefined;
}

/** What the model sees, edits applied, without the prompt itself and without failed attempts that were retried. */
export function projection(branch: Entry[]): Seen[] {
  const entries = active(branch);
  const edited = edits(entries);
  const seen = entries.flatMap((entry, index): Seen[] => {
    const message = source(entry, index === 0);
    const edit = edited.get(entry.id);
    if (!message || edit?.replacement === null) return [];
    return [{ entry, message: edit?.replacement ? { ...message, content: edit.replacement.content } : message }];
  });
  return seen.filter(({ message }, index) => !isFailedAttempt(message) || index === seen.length - 1);
}

/** The earliest request of the person on the branch that was not omitted, as it was edited. */
export function firstRequest(branch: Entry[]): string | undefined {
  const edited = edits(branch);
  for (const entry of branch) {
    const edit = edited.get(entry.id);
    if (entry.type !== "message" || entry.message?.role !== "user" || edit?.replacement === null) continue;
    const request = text(edit?.replacement ? edit.replacement.content : entry.message.content).trim();
    if (request) return request;
  }
  return undefined;
}

/** Whether the entry changes what a recap is about (seed session-recap, "Saved recaps"). */
function counts(entry: Entry): boolean {
  if (entry.type === "message") return entry.message?.role !== "system";
  return ["compaction", "branch_summary", "context_edit", "custom_message"].includes(entry.type);
}

/** A mark of the branch's state that our own bookkeeping entries do not change. */
export function revision(branch: Entry[]): string {
  return branch.findLast(counts)?.id ?? "";
}

export function hasHistory(branch: Entry[]): boolean {
  return branch.some((entry) => entry.type === "message" && entry.message?.role === "assistant");
}

/**
 * Whether all that was said in it is its parent's: the fork was only just made. `pi --fork` starts one as any other
 * session, so that the header alone tells, which is younger than what was taken over.
 */
export function isFreshFork(session: SessionManager): boolean {
  const header = session.getHeader();
  if (!header?.parentSession) return false;
  return session.getEntries().every(({ type, timestamp }) => type !== "message" || timestamp <= header.timestamp);
}

/** How many turns the branch holds; turns are numbered over the whole session. */
export function turnCount(branch: Entry[]): number {
  return branch.filter((entry) => entry.type === "message" && entry.message?.role === "assistant").length;
}

/** The newest recap that was saved on the branch. */
export function savedRecap(branch: Entry[]): afterturn.SavedRecap | undefined {
  const at = branch.findLastIndex((entry) => entry.customType === RECAP_ENTRY && recapData(entry.data));
  const data = recapData(branch[at]?.data);
  if (!data) return undefined;
  return { text: data.text, model: data.model ?? null, current: !branch.slice(at + 1).some(counts) };
}

function recapData(data: unknown): { text: string; model?: string | null } | undefined {
  const { text: words, model } = (data ?? {}) as { text?: unknown; model?: unknown };
  if (typeof words !== "string" || !words.trim()) return undefined;
  return { text: words, model: typeof model === "string" ? model : null };
}

/** `available`: of all providers, since a person may name a model of another one. */
export function modelInfo({ provider, id, api }: Model, available: Model[]): afterturn.ModelInfo {
  return { provider, id, api, available: available.map((each) => ({ provider: each.provider, id: each.id })) };
}

/** What a recap is drafted from. */
export function recapContext(branch: Entry[], model: afterturn.ModelInfo | undefined): afterturn.RecapContext {
  const seen = projection(branch);
  const summary = seen.findLast(({ message }) => message.summary !== undefined)?.message;
  const request = firstRequest(branch);
  return {
    messages: seen.slice(-CONTEXT_MESSAGES).map(({ entry, message }) => contextMessage(entry.id, message)),
    revision: revision(branch),
    ...(request ? { firstUserRequest: request } : {}),
    ...(summary
      ? {
          summary: {
            kind: summary.role === "compactionSummary" ? "compaction" : "branchSummary",
            text: summary.summary ?? "",
          },
        }
      : {}),
    ...(model ? { model } : {}),
  };
}
