/** Finished work on its way to the sidecar, one piece after the other, so that each begins where the last one ended. */
import { type AfterturnError, ERROR_CODES, ResponseError, SendError } from "@afterturn/client";
import type { Piece } from "./capture.js";
import type { Entry } from "./host.js";
import type { Sidecar } from "./sidecar.js";

export class Capturing {
  /** Settles when all that was asked for is done. Never rejects. */
  settled: Promise<void> = Promise.resolve();
  /** Sent without an answer: it may be on disk or not. Sent once more as it was, it is there once. */
  #unsure: Piece | undefined;

  /**
   * `project`: said with each piece, since one that is sent when the session is over comes without its opening.
   * `here`: the branch as it is. `next`: the pieces of a branch that are to be sent. Neither throws. `taken`: told of a
   * piece that is on disk; it marks in the session how far that goes. `refused`: told of one that never will be; it
   * marks that too, or no later work would be sent any more.
   */
  constructor(
    private readonly project: string,
    private readonly sidecar: Sidecar,
    private readonly here: () => Entry[],
    private readonly next: (branch: Entry[]) => Piece[],
    private readonly taken: (piece: Piece) => void,
    private readonly refused: (piece: Piece, error: AfterturnError) => void,
  ) {}

  /** Hand over what was done since the last time. What cannot be handed over is tried again the next time. */
  capture(): void {
    // As it is now: what begins while an earlier piece is under way is no part of this one, or it would end halfway.
    const branch = Promise.resolve().then(this.here);
    this.settled = this.settled.then(async () => {
      if (this.#unsure && !(await this.#send(this.#unsure))) return;
      for (const piece of this.next(await branch)) if (!(await this.#send(piece))) return;
    });
  }

  /** The piece that was sent and has no answer. */
  get unsure(): Piece | undefined {
    return this.#unsure;
  }

  async #send(piece: Piece): Promise<boolean> {
    const { episode, closedBy } = piece;
    this.#unsure = piece;
    const answer = await this.sidecar.ask((client) =>
      client.capture.episodeFinalized({ episode, closedBy, project: this.project }).catch((error: unknown) => {
        if (isRefusal(error)) return error;
        throw error;
      }),
    );
    if (!answer) return false;
    this.#unsure = undefined;
    if (answer instanceof Error) this.refused(piece, answer);
    else this.taken(piece);
    return true;
  }
}

/** Whether it is what was sent that is wrong, so that it would be every time. */
function isRefusal(error: unknown): error is AfterturnError {
  if (error instanceof SendError) return error.code !== "busy";
  const codes: number[] = [ERROR_CODES.invalidParams, ERROR_CODES.internalError];
  return error instanceof ResponseError && codes.includes(error.code);
}
