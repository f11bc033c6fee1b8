/** Plays a scripted conversation against a process (the format: spec/conversations/README.md). */
import assert from "node:assert/strict";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { FrameReader } from "../src/framing.js";
import { fill, mismatch } from "./pattern.js";

const PATIENCE_MS = 30_000;

type Message = Record<string, unknown>;
type Step = (value: never) => void | Promise<void>;

/** Starts the server with these arguments; later starts of one conversation get the same data folder. */
export type StartProcess = (args: readonly string[]) => ChildProcessWithoutNullStreams;

/** Rejects, naming the line, at the first step that does not go as the script says. */
export async function playConversation(script: string, start: StartProcess): Promise<void> {
  const player = new Player(start);
  try {
    for (const [index, line] of script.split("\n").entries()) {
      if (line !== "") await player.play(JSON.parse(line) as Message, `line ${index + 1}`);
    }
    assert.ok(!player.isRunning, "the script ends without expectExit or kill");
  } finally {
    await player.steps.kill();
  }
}

class Player {
  #process: ChildProcessWithoutNullStreams | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #inbox = new Inbox(false);
  #bound: Message = {};

  constructor(private readonly startProcess: StartProcess) {}

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  async play(step: Message, where: string): Promise<void> {
    const [name, ...more] = Object.keys(step).filter((key) => key !== "note" && key !== "req");
    if (name === undefined) return;
    try {
      assert.deepEqual(more, [], "one step a line");
      assert.ok(Object.hasOwn(this.steps, name), `unknown step ${name}`);
      await (this.steps as Record<string, Step>)[name]?.(step[name] as never);
    } catch (error) {
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
    }
  }

  readonly steps = {
    start: ({ args = [] }: { args?: string[] }): void => {
      const process = this.startProcess(args);
      this.#process = process;
      this.#inbox = new Inbox(args.includes("--framing=ndjson"));
      this.#ended = Promise.all([once(process, "exit"), once(process.stdout, "end")]);
      process.stdout.on("data", (chunk: Buffer) => this.#inbox.push(chunk));
      process.stdout.on("end", () => this.#inbox.close());
      process.stdin.on("error", () => {});
    },
    send: (message: Message): void => this.#write(this.#frame(this.#json(message))),
    sendTogether: (messages: Message[]): void =>
      this.#write(Buffer.concat(messages.map((message) => this.#frame(this.#json(message))))),
    sendBody: (text: string): void => this.#write(this.#frame(Buffer.from(text))),
    sendBodyBase64: (text: string): void => this.#write(this.#frame(Buffer.from(text, "base64"))),
    sendRaw: (text: string): void => this.#write(Buffer.from(text)),
    sendBase64: (text: string): void => this.#write(Buffer.from(text, "base64")),
    expect: (pattern: unknown): Promise<void> => this.#expect([pattern]),
    expectAll: (patterns: unknown[]): Promise<void> => this.#expect(patterns),
    close: (): void => void this.#running.stdin.end(),
    signal: (signal: NodeJS.Signals): void => void this.#running.kill(signal),
    kill: async (): Promise<void> => {
      this.#process?.kill("SIGKILL");
      await this.#ended;
      this.#process = undefined;
    },
    expectExit: async (code: number): Promise<void> => {
      await inTime(this.#ended, "the process still runs");
      // A process that a signal has ended has no code of its own.
      assert.equal(this.#running.exitCode, code, "exit code");
      assert.deepEqual(this.#inbox.left, [], "a message that no step expects");
      this.#process = undefined;
    },
  };

  get #running(): ChildProcessWithoutNullStreams {
    assert.ok(this.#process, "no process runs");
    return this.#process;
  }

  #write(bytes: Buffer): void {
    this.#running.stdin.write(bytes);
  }

  #json(message: Message): Buffer {
    return Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...(fill(message, this.#bound) as Message) }));
  }

  #frame(body: Buffer): Buffer {
    if (this.#inbox.isNdjson) return Buffer.concat([body, Buffer.from("\n")]);
    return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
  }

  async #expect(patterns: readonly unknown[]): Promise<void> {
    const left = [...patterns];
    while (left.length > 0) {
      const message = await inTime(this.#inbox.take(), "nothing came");
      const index = left.findIndex((pattern) => this.#fits(pattern, message));
      if (index === -1) {
        const problems = left.map((pattern) => mismatch(pattern, message, { ...this.#bound }));
        assert.fail(`${problems.join("; ")} (the whole message: ${JSON.stringify(message).slice(0, 600)})`);
      }
      left.splice(index, 1);
    }
  }

  #fits(pattern: unknown, message: unknown): boolean {
    const bound = { ...this.#bound };
    if (mismatch(pattern, message, bound) !== null) return false;
    this.#bound = bound;
    return true;
  }
}

/** The server's messages, in the order they came. */
class Inbox {
  readonly left: unknown[] = [];
  readonly #reader = new FrameReader();
  #rest = "";
  #wake: (() => void) | undefined;
  #closed = false;

  constructor(readonly isNdjson: boolean) {}

  push(chunk: Buffer): void {
    for (const body of this.isNdjson ? this.#lines(chunk) : this.#reader.push(chunk)) {
      const message = JSON.parse(body) as Message;
      assert.equal(message["jsonrpc"], "2.0");
      this.left.push(message);
    }
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async take(): Promise<unknown> {
    while (this.left.length === 0) {
      assert.ok(!this.#closed, "the process closed its output");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.left.shift();
  }

  #lines(chunk: Buffer): string[] {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() as string;
    return lines;
  }
}

/** Rejects with `what` where the promise takes too long. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
