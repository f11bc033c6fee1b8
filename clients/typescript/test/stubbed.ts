/** A client of the stub, and what it was told. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Afterturn, type CallOptions, type EventName, type EventParams, type StartOptions } from "../src/index.js";
import type { InitializeParams } from "../src/index.js";
import { STUB } from "./places.js";

export interface Seen {
  cancelled: unknown[];
  notified: string[];
  answers: { id: string; result?: unknown; error?: { code: number; message: string } }[];
}

export interface Given {
  env: Record<string, string>;
  cwd: string;
  args: string[];
  params: InitializeParams;
}

/** Starts the stub; `how` is one of its STARTS. It is closed after the test. */
export async function startStub(test: TestContext, how = "well", options: StartOptions = {}): Promise<Afterturn> {
  const client = await Afterturn.start({ command: process.execPath, args: [STUB, how], timeoutMs: 30_000, ...options });
  // A client keeps no process alive, so that waiting for what it does by itself needs something else that does.
  const alive = setInterval(() => {}, 60_000);
  test.after(async () => {
    await client.close({ graceMs: 100 });
    clearInterval(alive);
  });
  return client;
}

/** Has the stub do one of its BEHAVIOURS. */
export function ask(client: Afterturn, behaviour: string, options?: CallOptions): Promise<unknown> {
  return client.recap.get({ sessionId: behaviour }, options);
}

export async function report(client: Afterturn): Promise<Seen> {
  return (await ask(client, "report")) as Seen;
}

/** What the client has answered, once it has. */
export async function answersOf(client: Afterturn): Promise<Seen["answers"]> {
  return ((await ask(client, "report an answer")) as Seen).answers;
}

export function given(client: Afterturn): Given {
  return (client.server.capabilities as unknown as { given: Given }).given;
}

/** The next time this event comes. */
export function next<E extends EventName>(client: Afterturn, event: E): Promise<EventParams<E>> {
  return new Promise((resolve) => {
    const stop = client.on(event, (params) => {
      stop();
      resolve(params);
    });
  });
}

/** The children of this process that are still there, alive or not reaped. */
export function children(): number[] {
  return allPids().filter((pid) => statOf(pid)?.parent === process.pid);
}

/** The processes that have this among their arguments. */
export function running(mark: string): number[] {
  return allPids().filter((pid) => read(pid, "cmdline")?.includes(mark));
}

/** Whether the process lives: one that waits to be reaped does not. */
export function isRunning(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== "Z";
}

function allPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  // The name, in parentheses, may hold anything; after it come state and parent.
  const [state, parent] = read(pid, "stat")?.split(") ").at(-1)?.split(" ") ?? [];
  return state === undefined ? undefined : { state, parent: Number(parent) };
}

function read(pid: number, file: "stat" | "cmdline"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined;
  }
}

/** Waits until it holds. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `not so after 30 s: ${what}`);
    await sleep(20);
  }
}
