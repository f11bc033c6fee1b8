import { setMaxListeners } from "node:events";
import { type AfterturnError, CancelledError, TimeoutError } from "./errors.js";
import type { WorkDoneProgress } from "./protocol.js";

/** What a call may be given besides its params. */
export interface CallOptions {
  /** Aborting it cancels the request, also at the server, and rejects with CancelledError. */
  signal?: AbortSignal;
  /** How long to wait, in ms; then TimeoutError. Omitted means the client's own `timeoutMs`. */
  timeoutMs?: number;
  /** Told how far the request is; asks the server to report that. */
  onProgress?: (progress: WorkDoneProgress) => void;
  /** True: waiting for this call does not keep the Node process alive. Omitted means the client's own `background`. */
  background?: boolean;
}

/** The longest delay that a timer can have, in ms. */
const MAX_DELAY = 2 ** 31 - 1;

/** One request from its making to its end. Whatever comes first ends it: an answer, an error, its signal, its time. */
export class Call {
  /** Settles once. Nobody has to look at it: a rejection that is ignored does not end the host. */
  readonly promise: Promise<unknown>;
  /** Told when the caller has given up, so that the server can be told too. */
  onGivenUp: (() => void) | null = null;

  #resolve!: (result: unknown) => void;
  #reject!: (error: AfterturnError) => void;
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#giveUp(new CancelledError(this.method, this.options.signal?.reason));

  constructor(
    readonly method: string,
    readonly params: object,
    readonly options: CallOptions & { timeoutMs: number },
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.promise.catch(() => {});
    const { signal, timeoutMs, background } = options;
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    if (signal) {
      listenAtEase(signal);
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    const giveUp = (): void => this.#giveUp(new TimeoutError(method, timeoutMs));
    this.#timer = setTimeout(giveUp, Math.min(timeoutMs, MAX_DELAY));
    // The timer is what keeps the host alive while it waits; the pipes and the process never do.
    if (background) this.#timer.unref();
  }

  /** Whether somebody still waits. */
  get open(): boolean {
    return this.#timer !== undefined;
  }

  resolve(result: unknown): void {
    this.#end();
    this.#resolve(result);
  }

  reject(error: AfterturnError): void {
    this.#end();
    this.#reject(error);
  }

  #giveUp(error: AfterturnError): void {
    this.reject(error);
    this.onGivenUp?.();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.options.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Node 20 takes more than ten calls under one signal for a leak, and warns of it on the host's stderr. */
function listenAtEase(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // A signal that is not Node's own, as a polyfill's or jsdom's, warns of nothing.
  }
}
