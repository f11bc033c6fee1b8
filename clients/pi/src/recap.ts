/** A recap on the screen, and in the session file. */
import type * as afterturn from "@afterturn/client";
import { RECAP_ENTRY } from "./branch.js";
import { keepingTimes } from "./filetimes.js";
import type { Context, Pi } from "./host.js";
import { plain } from "./plain.js";
import { wrap } from "./wrapping.js";

const WIDGET = "afterturn-recap";
/** pi draws no more of a widget. */
const MAX_LINES = 10;
const MAX_WIDTH = 100;
const HEAD = "While you were away: ";

/** The recap's lines for a screen of `columns` cells. */
export function recapLines(text: string, columns: number | undefined): string[] {
  return wrap(plain(HEAD + text), Math.min(columns ? columns - 2 : MAX_WIDTH, MAX_WIDTH), MAX_LINES);
}

export class RecapView {
  #shown: string | undefined;

  constructor(private readonly pi: Pick<Pi, "appendEntry">) {}

  /** Show it, and save it where it asks for that. */
  ready(recap: afterturn.Recap, context: Context): void {
    this.#shown = recap.recapId;
    context.ui.setWidget(WIDGET, recapLines(recap.text, process.stdout.columns));
    if (recap.save) this.#save(recap, context);
  }

  /** `recapId`: only if it is that one. */
  clear(context: Context, recapId?: string): void {
    if (!this.#shown || (recapId && recapId !== this.#shown)) return;
    this.#shown = undefined;
    context.ui.setWidget(WIDGET, undefined);
  }

  #save({ text, model }: afterturn.Recap, { sessionManager }: Context): void {
    keepingTimes(sessionManager.getSessionFile(), () => {
      this.pi.appendEntry(RECAP_ENTRY, { text, model });
      return Buffer.byteLength(`${JSON.stringify(sessionManager.getLeafEntry())}\n`);
    });
  }
}
