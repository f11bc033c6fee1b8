import type { Writable } from "node:stream";

/** Most bytes that wait for a server that does not read; what would be more is refused. */
const MAX_WAITING = 64 * 1024 * 1024;

/** A server that takes less than this of a long frame, in bytes a ms, counts as one that takes nothing. */
const SLOWEST = 1024;

/**
 * The one writer. Frames leave in order; while the pipe is full they wait here, where they can still be taken back.
 *
 * `onStalled` is told when the pipe has been full for `stallMs` without taking anything. A server that works never
 * stops reading for long; and a write that is under way keeps the host's process alive, whatever is unref'd.
 */
export class Outbox {
  readonly #waiting = new Set<Buffer>();
  #waitingBytes = 0;
  #stall: NodeJS.Timeout | null = null;

  constructor(
    private readonly stream: Writable,
    private readonly stallMs: number,
    private readonly onStalled: () => void,
  ) {
    stream.on("drain", () => this.#drained());
  }

  /** Whether the pipe is full. */
  get isBlocked(): boolean {
    return this.#stall !== null;
  }

  /** Whether the frame was taken; not so when too much is waiting already. */
  push(frame: Buffer): boolean {
    if (!this.isBlocked) {
      this.#write(frame);
      return true;
    }
    if (this.#waitingBytes + frame.length > MAX_WAITING) return false;
    this.#waiting.add(frame);
    this.#waitingBytes += frame.length;
    return true;
  }

  /** Whether the frame could be taken back, because it had not left yet. */
  takeBack(frame: Buffer): boolean {
    if (!this.#waiting.delete(frame)) return false;
    this.#waitingBytes -= frame.length;
    return true;
  }

  /** Forget what waits. */
  clear(): void {
    this.#waiting.clear();
    this.#waitingBytes = 0;
    this.#setStall(null);
  }

  #write(frame: Buffer): void {
    if (this.stream.writable && !this.stream.write(frame)) {
      this.#setStall(setTimeout(() => this.onStalled(), this.stallMs + frame.length / SLOWEST).unref());
    }
  }

  #drained(): void {
    this.#setStall(null);
    for (const frame of this.#waiting) {
      if (this.isBlocked) return;
      this.takeBack(frame);
      this.#write(frame);
    }
  }

  #setStall(timer: NodeJS.Timeout | null): void {
    if (this.#stall) clearTimeout(this.#stall);
    this.#stall = timer;
  }
}
