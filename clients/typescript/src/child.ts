import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { type Exit, StartError } from "./errors.js";
import { holding } from "./holding.js";

/** How much of stderr is kept, in bytes. */
const STDERR_TAIL = 8192;

/** How long the pipes may stay open after the end of the process, in ms: somebody else may hold them. */
const PIPES_MS = 500;

/**
 * One server process, ours alone to end. Neither it nor its pipes keep the host alive.
 *
 * Its stderr is always read, so that it never blocks on it; the end of it is kept.
 */
export class Child {
  /** Settles when the process has ended and all it wrote has been read. Never rejects. */
  readonly ended: Promise<Exit>;
  #stderr = Buffer.alloc(0);

  private constructor(
    readonly command: readonly string[],
    private readonly process: ChildProcessWithoutNullStreams,
  ) {
    process.unref();
    for (const pipe of [process.stdin, process.stdout, process.stderr]) (pipe as unknown as Socket).unref();
    // A broken pipe, or a signal that cannot be sent, says no more than the end of the process will.
    process.stdin.on("error", () => {});
    process.on("error", () => {});
    process.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_TAIL);
    });
    this.ended = this.#watch();
  }

  /** Rejects with StartError where it cannot be started. */
  static async spawn(command: readonly string[], env: NodeJS.ProcessEnv, cwd: string | undefined): Promise<Child> {
    try {
      const [file = "", ...args] = command;
      const process = spawn(file, args, { env, cwd, stdio: "pipe", windowsHide: true });
      // Unless it fails, "spawn" comes with the next tick: nothing has been written by then.
      await once(process, "spawn");
      return new Child(command, process);
    } catch (error) {
      // Where the folder is missing, Node says of the executable that it is.
      const where = cwd === undefined ? "" : ` in ${cwd}`;
      throw new StartError(`${command[0]} cannot be started${where}: ${(error as Error).message}`, command, error);
    }
  }

  get pid(): number {
    return this.process.pid as number;
  }

  get stdin(): Socket {
    return this.process.stdin as unknown as Socket;
  }

  get stderr(): string {
    return this.#stderr.toString();
  }

  /** Where the bytes of stdout go. A server that closes it while it runs is of no use any more, and is ended. */
  pipeTo(receive: (chunk: Buffer) => void, graceMs: number): void {
    this.process.stdout.on("data", receive);
    this.process.stdout.on("end", () => void this.end(graceMs, true));
  }

  /** End it at once, and wait for nothing. */
  kill(): void {
    this.process.kill("SIGKILL");
  }

  /**
   * End it: its input first, after `graceMs` SIGTERM, after `graceMs` more SIGKILL. In the background that does not
   * keep the host alive.
   */
  end(graceMs: number, background: boolean): Promise<Exit> {
    // The process and its pipes are unref'd for good, so that something else has to hold the host until it has ended.
    return holding(this.#end(graceMs), background);
  }

  async #end(graceMs: number): Promise<Exit> {
    // Destroyed rather than ended where it is full: a write under way would wait for ever.
    if (this.process.stdin.writableNeedDrain) this.process.stdin.destroy();
    else this.process.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await within(graceMs, this.ended)) break;
      this.process.kill(signal);
    }
    return this.ended;
  }

  async #watch(): Promise<Exit> {
    const closed = new Promise((resolve) => this.process.once("close", resolve));
    const exit = await new Promise<Omit<Exit, "stderr">>((resolve) =>
      this.process.once("exit", (exitCode, signal) => resolve({ exitCode, signal })),
    );
    await within(PIPES_MS, closed);
    return { ...exit, stderr: this.stderr };
  }
}

/** Whether the promise settles within this time, in ms. Waiting for it does not keep the host alive. */
async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false).unref();
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
