/**
 * Finished tool calls go to the sidecar; what it gives back takes their place in the model's context.
 *
 * Where pi has durable edits, each replacement becomes one at the next boundary. Until it is seen there, and always in
 * the older pi, the same bytes are put in place right before each request, so that a prefix changes once and never
 * again.
 */
import type * as afterturn from "@afterturn/client";
import { edits, type Tree } from "./branch.js";
import type { Boundary, ContextEdit, Entry, Message } from "./host.js";

export const CONDENSED_ENTRY = "afterturn-condensed";

/** What takes the place of one result, frozen. `entryId`: of the result, where pi tells it. */
export interface Replacement {
  toolCallId: string;
  resultTimestamp?: number;
  entryId?: string;
  text: string;
}

/** Size of the results that were replaced, and of what stands in their place, in chars. */
export interface Savings {
  before: number;
  after: number;
}

function key(toolCallId: string | undefined, timestamp: number | null | undefined): string {
  return `${toolCallId}@${timestamp}`;
}

export class Condensing {
  readonly #replacements = new Map<string, Replacement>();
  readonly #sizes = new Map<string, number>();
  /** Results that an edit on the branch speaks for: ours, or one that somebody else made. */
  #edited = new Set<string>();

  /**
   * `keep` stores what is new in the session, so that a restart has it before the sidecar is there. `knowsEdits`:
   * whether this pi makes anything of edits; the older line shows the originals of a session that the newer edited.
   */
  constructor(
    private readonly keep: (replacements: Replacement[]) => void,
    private readonly knowsEdits: boolean,
  ) {}

  /** Read the session anew: after a start, and after a move in the tree. */
  restore({ branch, all }: Tree): void {
    this.#edited = new Set(this.knowsEdits ? edits(branch).keys() : []);
    for (const { customType, data } of all) {
      if (customType === CONDENSED_ENTRY) keptReplacements(data).forEach((each) => this.#add(each));
    }
    for (const { message } of branch) if (message?.role === "toolResult") this.measure([message]);
  }

  /** Remember how large the results are. */
  measure(results: Message[]): void {
    for (const result of results) this.#sizes.set(key(result.toolCallId, result.timestamp), size(result.content));
  }

  /** Replacements from the sidecar. Those known already are left as they are. */
  take(replacements: Replacement[]): void {
    const fresh = replacements.filter((each) => this.#add(each));
    if (fresh.length) this.keep(fresh);
  }

  #add(replacement: unknown): boolean {
    if (!isReplacement(replacement)) return false;
    const at = key(replacement.toolCallId, replacement.resultTimestamp);
    if (this.#replacements.has(at)) return false;
    this.#replacements.set(at, replacement);
    return true;
  }

  /** Put what is not in the session yet into a request's messages, in place: a new list would cost pi its cache. */
  swap(messages: Message[]): void {
    if (!this.#replacements.size) return;
    for (const [at, result] of distinct(messages)) {
      const found = this.#replacements.get(at);
      if (found && !this.#edited.has(found.entryId ?? "")) result.content = [{ type: "text", text: found.text }];
    }
  }

  /** The edits to make at a boundary: of results that are in the context and have none. Empty where pi has no edits. */
  drafts(boundary: Boundary): ContextEdit[] {
    const open = [...this.#replacements.values()].filter((each) => each.entryId && !this.#edited.has(each.entryId));
    if (!open.length || !boundary.context) return [];
    const entries = boundary.context.contextEntries.map(({ sourceEntry }) => sourceEntry as Entry);
    for (const target of edits(entries).keys()) this.#edited.add(target);
    // A target that a compaction took away would have the whole proposal refused.
    const present = new Set(entries.map((entry) => entry.id));
    return open
      .filter(({ entryId = "" }) => present.has(entryId) && !this.#edited.has(entryId))
      .map(({ entryId = "", text }) => ({
        type: "context_edit",
        targetId: entryId,
        replacement: { content: text },
      }));
  }

  get savings(): Savings {
    let [before, after] = [0, 0];
    for (const [at, { text }] of this.#replacements) {
      before += this.#sizes.get(at) ?? text.length;
      after += text.length;
    }
    return { before, after };
  }
}

/** Results by their keys. Some providers give no ids: results that cannot be told apart are left out. */
function distinct(messages: Message[]): Map<string, Message> {
  const found = new Map<string, Message>();
  const twice = new Set<string>();
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const at = key(message.toolCallId, message.timestamp);
    if (found.has(at)) twice.add(at);
    found.set(at, message);
  }
  for (const at of twice) found.delete(at);
  return found;
}

function size(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, part) => sum + (typeof part?.text === "string" ? part.text.length : 0), 0);
}

function keptReplacements(data: unknown): unknown[] {
  const { replacements } = (data ?? {}) as { replacements?: unknown };
  return Array.isArray(replacements) ? replacements : [];
}

/** What goes to the model has to be a text, whoever has kept or sent it. */
function isReplacement(found: unknown): found is Replacement {
  const { toolCallId, text } = (found ?? {}) as Partial<Replacement>;
  return typeof toolCallId === "string" && typeof text === "string" && text !== "";
}

interface Replaceable {
  toolCallId: string;
  resultTimestamp?: number | null;
  entryId?: string | null;
}

function replacement({ toolCallId, resultTimestamp, entryId }: Replaceable, text: string): Replacement {
  return {
    toolCallId,
    ...(resultTimestamp == null ? {} : { resultTimestamp }),
    ...(entryId == null ? {} : { entryId }),
    text,
  };
}

export function fromItems(items: afterturn.CondenseItem[]): Replacement[] {
  return items.flatMap((item) => (item.replacement == null ? [] : [replacement(item, item.replacement)]));
}

export function fromPlan(plan: afterturn.PlanResult): Replacement[] {
  return plan.replacements.map((each) => replacement(each, each.text));
}
