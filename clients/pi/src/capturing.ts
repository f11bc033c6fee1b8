/** Finished work on its way to the sidecar, one piece after the other, so that each begins where the last one ended. */
import type { Piece } from "./capture.js";
import type { Sidecar } from "./sidecar.js";

export class Capturing {
  /** Settles when all that was asked for is done. Never rejects. */
  settled: Promise<void> = Promise.resolve();
  /** Sent without an answer: it may be on disk or not. Sent once more as it was, it is there once. */
  #unsure: Piece | undefined;

  /**
   * `project`: said with each piece, since one that is sent when the session is over comes without its opening.
   * `next`: the piece that there is then; it never throws. `taken`: told of a piece that is on disk; it marks in the
   * session how far that goes.
   */
  constructor(
    private readonly project: string,
    private readonly sidecar: Sidecar,
    private readonly next: () => Piece | undefined,
    private readonly taken: (piece: Piece) => void,
  ) {}

  /** Hand over what was done since the last time. What cannot be handed over is part of a later piece. */
  capture(): void {
    this.settled = this.settled.then(async () => {
      const again = this.#unsure;
      this.#unsure = undefined;
      if (again) await this.#send(again);
      const piece = this.next();
      if (piece && !(await this.#send(piece))) this.#unsure = piece;
    });
  }

  async #send(piece: Piece): Promise<boolean> {
    const { episode, closedBy } = piece;
    const answer = await this.sidecar.ask((client) =>
      client.capture.episodeFinalized({ episode, closedBy, project: this.project }),
    );
    if (answer) this.taken(piece);
    return answer !== undefined;
  }
}
