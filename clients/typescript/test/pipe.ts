import { Writable } from "node:stream";

/** A pipe that takes what is written only when it is told to. */
export class Pipe extends Writable {
  /** Each write, in order, but for large ones their size. */
  readonly taken: string[] = [];
  #done: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.taken.push(chunk.length > 1000 ? `${chunk.length} bytes` : chunk.toString());
    this.#done = done;
  }

  /** Take one write, and wait until the next has come as far as it comes. */
  async take(): Promise<void> {
    const done = this.#done;
    this.#done = undefined;
    done?.();
    await new Promise(setImmediate);
  }
}
