/** The sidecar as pi's handlers see it: calls wait for its start, keep their order, and never fail there. */
import { type Afterturn, ResponseError } from "@afterturn/client";

/** How long somebody waits for a sidecar that is starting. */
const START_PATIENCE_MS = 10_000;

/** How often a timer that only keeps pi alive fires. */
const HOLD_MS = 60_000;

/** Answered at once, while a session's own calls wait for one another. */
const NO_SESSION = "-";

/** What a session can say to the sidecar, whether there is one or not. */
export class Sidecar {
  /** The client once it is open; undefined where there is none. Never rejects. */
  readonly #client: Promise<Afterturn | undefined>;
  readonly #starting = new AbortController();
  #current: Afterturn | undefined;

  /**
   * `start`: makes the client and opens the session, unless the signal is aborted first. `failed`: told why, if that
   * does not work or the sidecar has no store.
   */
  constructor(
    start: (signal: AbortSignal) => Promise<Afterturn>,
    private readonly failed: (error: unknown) => void,
  ) {
    this.#client = start(this.#starting.signal).then(
      (client) => (this.#current = client),
      (error: unknown) => {
        failed(error);
        return undefined;
      },
    );
  }

  /** Whether it is there, or was. */
  get started(): boolean {
    return this.#current !== undefined;
  }

  /** Call it when it is there; undefined where there is none or the call fails. Never rejects. */
  async ask<T>(call: (client: Afterturn) => Promise<T>): Promise<T | undefined> {
    try {
      const client = await this.#client;
      return client && (await call(client));
    } catch (error) {
      // What failed is lost for this once; the client says by an event if the sidecar is gone. Without a store it does
      // nothing at all, which a person cannot see.
      if (error instanceof ResponseError && error.kind === "store_unavailable") this.failed(error);
      return undefined;
    }
  }

  /**
   * Call it for somebody who waits for the answer. Rejects with the reason where that is not possible. Until then pi is
   * kept alive: nothing of the client does that, and `pi -p` would end in the middle of its work.
   */
  async demand<T>(call: (client: Afterturn) => Promise<T>): Promise<T> {
    const hold = setInterval(() => {}, HOLD_MS);
    try {
      const client = await within(START_PATIENCE_MS, this.#client);
      if (!client) throw new Error("afterturn is not running in this session.");
      return await call(client);
    } finally {
      clearInterval(hold);
    }
  }

  /** Tell it something that has no answer. */
  tell(message: (client: Afterturn) => void): void {
    void this.ask(async (client) => message(client));
  }

  /**
   * Whether it answers within `ms`. It need not where none runs. In the background pi may end meanwhile, and takes one
   * with it that has not answered.
   */
  async answers(ms: number, background: boolean): Promise<boolean> {
    const client = this.#current;
    if (client?.status !== "ready") return true;
    const abandon = (): void => kill(client);
    process.once("exit", abandon);
    try {
      await client.session.close({ sessionId: NO_SESSION }, { timeoutMs: ms, background });
      return true;
    } catch {
      return false;
    } finally {
      process.off("exit", abandon);
    }
  }

  /**
   * Say goodbye, and wait for nothing. One that answers does what it has read when it sees the end of its input, and
   * ends by itself; one that does not would stay for ever, and is killed. One that is still starting is given up.
   *
   * `quits`: pi ends too, which ends the input.
   */
  leave(sessionId: string, quits: boolean, answers: boolean): void {
    this.#starting.abort();
    const client = this.#current;
    if (client && !answers) kill(client);
    client?.notify("session/close", { sessionId });
    if (!quits) void this.#client.then((late) => late?.close({ background: true }));
  }
}

/** Only what runs is killed: the pid of one that has ended may be somebody else's. */
function kill(client: Afterturn): void {
  if (client.status !== "ready") return;
  try {
    process.kill(client.server.pid, "SIGKILL");
  } catch {
    // It has ended in this moment.
  }
}

/**
 * The promise's value, or undefined after `ms`. While somebody waits the timer has to keep the process alive: nothing
 * of the client does, and Node would end. In the background it must not.
 */
export function within<T>(ms: number, promise: Promise<T>, background = false): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    if (background) timer.unref();
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
