import { setTimeout as sleep } from "node:timers/promises";
import type { Call } from "./call.js";
import { type AfterturnError, ClosedError, type Exit, ExitError } from "./errors.js";
import { holding } from "./holding.js";
import { GRACE_MS, type Link } from "./link.js";
import { restartDelayMs } from "./restarts.js";

/** "restarting": between two processes, calls wait for the next. "closed": for good. */
export type Status = "ready" | "restarting" | "closing" | "closed";

export interface Watcher {
  /** A process has ended, or did not start, that nobody had asked to end. */
  onExit: (exit: Exit, restarting: boolean) => void;
  /** Another process has taken over. What is sent now comes before the calls that have waited. */
  onRestart: (restarts: number) => void;
}

/** Keeps one server at work: from its first process, over restarts where those are wanted, to the end of the last. */
export class Supervisor {
  /** Settles, and never rejects, when a process has ended and none will follow it. */
  readonly exited: Promise<Exit>;

  #status: Status = "ready";
  /** Calls made while there is no process. None of them has been sent, so sending them repeats nothing. */
  readonly #waiting = new Set<Call>();
  readonly #endedAt: number[] = [];
  readonly #closing = new AbortController();
  #closed: Promise<Exit> | undefined;
  /** Why there is no process. */
  #reason: AfterturnError = new ClosedError();
  #restarts = 0;

  /** `reopen` starts the next process, unless its signal is aborted first; without it there is none. */
  constructor(
    private link: Link,
    private readonly reopen: ((signal: AbortSignal) => Promise<Link>) | undefined,
    private readonly watcher: Watcher,
  ) {
    this.exited = this.#keep();
  }

  get status(): Status {
    return this.#status;
  }

  /** The process at work, or the last one. */
  get current(): Link {
    return this.link;
  }

  send(call: Call): void {
    if (!call.open) return;
    const isBetween = this.#status === "restarting" || (this.#status === "ready" && this.link.connection.isEnded);
    if (isBetween && this.reopen) this.#wait(call);
    else if (this.#status === "ready") this.link.connection.send(call);
    else call.reject(this.#reason);
  }

  notify(method: string, params: object): void {
    if (this.#status === "ready") this.link.connection.notify(method, params);
  }

  /** In the background it does not keep the host alive. */
  close(graceMs: number, background: boolean): Promise<Exit> {
    this.#closed ??= this.#close(graceMs, background);
    return this.#closed;
  }

  async #close(graceMs: number, background: boolean): Promise<Exit> {
    if (this.#status === "closed") return this.exited;
    this.#status = "closing";
    this.#reason = new ClosedError();
    this.#closing.abort();
    this.#rejectWaiting();
    await this.link.close(graceMs, background);
    // A next process that was under way ends in the background.
    return holding(this.exited, background);
  }

  /** Watch one process after the other, until the last has ended. */
  async #keep(): Promise<Exit> {
    for (;;) {
      const exit = await this.link.child.ended;
      if (!this.#closing.signal.aborted) this.#reason = new ExitError(exit);
      const next = await this.#next(exit);
      if (!next) return this.#finish(exit);
      this.#takeOver(next);
    }
  }

  /** The next process; undefined where none is wanted, or too many have ended. */
  async #next(exit: Exit): Promise<Link | undefined> {
    const { signal } = this.#closing;
    let last = exit;
    while (!signal.aborted) {
      this.#endedAt.push(performance.now());
      const delayMs = this.reopen ? restartDelayMs(this.#endedAt, performance.now()) : null;
      this.#status = delayMs === null ? "closed" : "restarting";
      this.watcher.onExit(last, delayMs !== null);
      if (!this.reopen || delayMs === null) return undefined;
      try {
        await sleep(delayMs, undefined, { ref: false, signal });
        const link = await this.reopen(signal);
        if (!signal.aborted) return link;
        await link.close(GRACE_MS, true);
      } catch (error) {
        // Closed meanwhile, or a StartError, which counts as one more end.
        const { cause } = error as Error;
        if (cause instanceof ExitError) last = cause.data;
      }
    }
    return undefined;
  }

  #takeOver(link: Link): void {
    this.link = link;
    this.#status = "ready";
    this.#restarts += 1;
    this.watcher.onRestart(this.#restarts);
    const calls = [...this.#waiting];
    this.#waiting.clear();
    for (const call of calls) this.send(call);
  }

  #finish(exit: Exit): Exit {
    this.#status = "closed";
    this.#rejectWaiting();
    return exit;
  }

  #wait(call: Call): void {
    this.#waiting.add(call);
    call.onGivenUp = () => this.#waiting.delete(call);
  }

  #rejectWaiting(): void {
    for (const call of this.#waiting) call.reject(this.#reason);
    this.#waiting.clear();
  }
}
