/** Finished turns on their way to the sidecar. */
import type { CondenseItem, CondenseTurnEndParams } from "@afterturn/client";
import { turnCount } from "./branch.js";
import type { Context, Entry, Message, TurnEnd } from "./host.js";
import { finishedCalls, text, toolUses } from "./messages.js";
import type { Sidecar } from "./sidecar.js";

/** Turns that a sidecar did not take are sent again to the next; more than these are not kept. */
const MAX_UNANSWERED = 100;

export class Turns {
  /** Turns so far; they are numbered over the whole session. */
  #count = 0;
  #request = "";
  readonly #unanswered = new Set<CondenseTurnEndParams>();

  /** `received`: told what became of the calls of a turn. */
  constructor(
    private readonly sessionId: string,
    private readonly sidecar: Sidecar,
    private readonly received: (items: CondenseItem[]) => void,
  ) {}

  /** Count anew: after a start, and after a move in the tree. */
  restore(branch: Entry[]): void {
    this.#count = turnCount(branch);
  }

  /** Remember what the person asks for. */
  heard(message: Message): void {
    if (message.role === "user") this.#request = text(message.content);
  }

  /** `send`: whether the sidecar is to hear of it; it counts in any case. */
  ended(event: TurnEnd, usage: ReturnType<Context["getContextUsage"]>, send: boolean): void {
    const { message, toolResults, toolResultEntryIds } = event;
    const turnIndex = this.#count++;
    if (!send) return;
    this.#forward({
      sessionId: this.sessionId,
      final: toolUses(message.content).length === 0,
      ...(message.stopReason ? { stopReason: message.stopReason } : {}),
      ...(usage ? { usage: { tokens: usage.tokens, window: usage.contextWindow } } : {}),
      ...(toolResults.length
        ? {
            batch: {
              turnIndex,
              timestamp: Date.now(),
              userText: this.#request,
              assistantText: text(message.content),
              toolCalls: finishedCalls(message, toolResults, toolResultEntryIds),
            },
          }
        : {}),
    });
  }

  /** To a new process: what the one before did not take. A turn that it did take keeps its refs. */
  resend(): void {
    const waiting = [...this.#unanswered];
    this.#unanswered.clear();
    for (const params of waiting) this.#forward(params);
  }

  #forward(params: CondenseTurnEndParams): void {
    if (this.#unanswered.size < MAX_UNANSWERED) this.#unanswered.add(params);
    void this.sidecar
      .ask((client) => client.condense.onTurnEnd(params))
      .then((result) => {
        if (!result) return;
        this.#unanswered.delete(params);
        this.received(result.items);
      });
  }
}
