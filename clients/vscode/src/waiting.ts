import type { Recap } from "./protocol.js";

/** The recap there is, and whether the person has seen it. It is shown to nobody who is not there. */
export class WaitingRecap {
  #recap: Recap | undefined;
  #seen = false;

  get recap(): Recap | undefined {
    return this.#recap;
  }

  /** A recap came, in place of the one before. */
  arrived(recap: Recap): void {
    this.#recap = recap;
    this.#seen = false;
  }

  /** The person is there: what to show them now, once. */
  take(): Recap | undefined {
    if (this.#seen) return undefined;
    this.#seen = true;
    return this.#recap;
  }

  /** The recap is over; another one is not. Whether it was this one. */
  cleared(recapId: string): boolean {
    if (this.#recap?.recapId !== recapId) return false;
    this.#recap = undefined;
    return true;
  }
}
