/** Finished work on its way to the sidecar, one piece after the other, so that each begins where the last one ended. */
import { type Piece, pieceOf } from "./capture.js";
import type { Entry } from "./host.js";
import type { Sidecar } from "./sidecar.js";

export class Capturing {
  /** Settles when all that was asked for is done. Never rejects. */
  settled: Promise<void> = Promise.resolve();
  /** Sent without an answer: it may be on disk or not. Sent once more as it was, it is there once. */
  #unsure: Piece | undefined;

  /**
   * `project`: said with each piece, since one that is sent when the session is over comes without its opening.
   * `branch`: the session as it is then, undefined once it is over. `taken`: told of a piece that is on disk; it marks
   * in the branch how far that goes.
   */
  constructor(
    private readonly sessionId: string,
    private readonly project: string,
    private readonly sidecar: Sidecar,
    private readonly branch: () => Entry[] | undefined,
    private readonly taken: (piece: Piece) => void,
  ) {}

  /** Hand over what was done since the last time. What cannot be handed over is part of a later piece. */
  capture(): void {
    this.settled = this.settled.then(async () => {
      const again = this.#unsure;
      this.#unsure = undefined;
      if (again) await this.#send(again);
      const branch = this.branch();
      const piece = branch && pieceOf(branch, this.sessionId);
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
