/** The care of a process: one that does not start, ends, hangs, lies or floods. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Afterturn,
  CancelledError,
  ClosedError,
  ExitError,
  ProtocolError,
  ResponseError,
  type SendError,
  StartError,
  type StartOptions,
  TimeoutError,
  UnavailableError,
} from "../src/index.js";
import { STUB, temporaryFolder } from "./places.js";
import { ask, children, eventually, given, next, report, startStub } from "./stubbed.js";

const UNSTARTABLE: [how: string, cause: new (...args: never[]) => Error, message: RegExp, options?: StartOptions][] = [
  ["crash", ExitError, /ended with code 3/],
  ["crash with last words", ExitError, /the last words$/],
  ["mute", TimeoutError, /no answer within 100 ms/, { timeoutMs: 100 }],
  ["garbage", ProtocolError, /Traceback/],
  ["other version", Error, /speaks protocol 2, this client 1; `pip install afterturn==/],
  ["other server", Error, /not afterturn/],
  ["answer null", Error, /not afterturn/],
  ["other versions", ResponseError, /speaks protocol 2 and 3, this client 1; `pip install afterturn==/],
  ["refuse", ResponseError, /initialize: no/],
];

for (const [how, cause, message, options] of UNSTARTABLE) {
  test(`a server that starts with "${how}" is a StartError and leaves no process`, async () => {
    await assert.rejects(Afterturn.start({ command: process.execPath, args: [STUB, how], ...options }), (error) => {
      assert.ok(error instanceof StartError && error instanceof UnavailableError);
      assert.ok(error.cause instanceof cause, String(error.cause));
      assert.match(error.message, message);
      assert.ok(error.message.length < 10_000);
      return true;
    });
    assert.deepEqual(children(), []);
  });
}

for (const command of ["/nowhere/afterturn", "", "\0"]) {
  test(`the command ${JSON.stringify(command)} is a StartError`, async () => {
    await assert.rejects(Afterturn.start({ command }), StartError);
  });
}

test("a folder that is not there is named", async () => {
  const start = Afterturn.start({ command: process.execPath, args: [STUB, "well"], cwd: "/nowhere/at/all" });
  await assert.rejects(start, (error) => error instanceof StartError && error.message.includes(" in /nowhere/at/all: "));
});

/** Starts a stub, and aborts that once its process is there. */
async function abortedStart(how: string): Promise<void> {
  const controller = new AbortController();
  const start = Afterturn.start({ command: process.execPath, args: [STUB, how], signal: controller.signal });
  const rejected = assert.rejects(start, (error) => error instanceof CancelledError && error.cause === "enough");
  await eventually(() => children().length === 1, "the process is there");
  controller.abort("enough");
  await rejected;
}

for (const how of ["mute", "mute and deaf"]) {
  test(`a start of a "${how}" server that is aborted leaves no process`, async () => {
    await abortedStart(how);
    assert.deepEqual(children(), []);
  });
}

test("a start whose signal is aborted already starts nothing", async () => {
  const signal = AbortSignal.abort("enough");
  await assert.rejects(Afterturn.start({ command: "/nowhere/afterturn", signal }), CancelledError);
});

test("the signal of a start ends no client that is there", async (t) => {
  const controller = new AbortController();
  const client = await startStub(t, "well", { signal: controller.signal, restart: true });
  controller.abort();
  await assert.rejects(ask(client, "crash"), ExitError);
  assert.deepEqual(await ask(client, "echo"), { echo: { sessionId: "echo" } });
});

const ENDS: [behaviour: string, exitCode: number | null, signal: string | null][] = [
  ["crash", 3, null],
  ["kill", null, "SIGKILL"],
];

for (const [behaviour, exitCode, signal] of ENDS) {
  test(`after a ${behaviour} every call is rejected`, async (t) => {
    const client = await startStub(t);
    const exited = next(client, "client.exited");
    const pending = [ask(client, "hang"), ask(client, "late"), ask(client, behaviour)];
    for (const call of pending) await assert.rejects(call, ExitError);
    assert.deepEqual(await client.exited, { exitCode, signal, stderr: "" });
    assert.deepEqual(await exited, { exitCode, signal, stderr: "", restarting: false });
    assert.equal(client.status, "closed");
    await assert.rejects(ask(client, "echo"), ExitError);
    client.notify("recap/onInput", { sessionId: "s", kind: "typed" });
    assert.deepEqual(await client.close(), { exitCode, signal, stderr: "" });
    assert.deepEqual(children(), []);
  });
}

for (const behaviour of ["too short", "too long", "garbage", "no json", "a batch"]) {
  test(`a server that writes "${behaviour}" is ended`, async (t) => {
    const client = await startStub(t);
    const warning = next(client, "client.warning");
    const hanging = ask(client, "hang");
    await assert.rejects(Promise.all([ask(client, behaviour), ask(client, "echo")]), ProtocolError);
    await assert.rejects(hanging, ProtocolError);
    assert.ok((await warning).error instanceof ProtocolError);
    await client.exited;
    await assert.rejects(ask(client, "echo"), UnavailableError);
  });
}

test("a server that closes its output is ended", async (t) => {
  const client = await startStub(t);
  await assert.rejects(ask(client, "close stdout"), ExitError);
});

test("a flood on stderr blocks nobody", async (t) => {
  const client = await startStub(t);
  await ask(client, "flood stderr");
  const { stderr } = await client.close();
  assert.ok(stderr.length <= 8192 && stderr.endsWith("noise "));
});

const CLOSES: [how: string, exitCode: number | null, signal: string | null][] = [
  ["well", 0, null],
  ["deaf to EOF", null, "SIGTERM"],
  ["deaf to SIGTERM", null, "SIGKILL"],
];

for (const [how, exitCode, signal] of CLOSES) {
  test(`closing a server that starts with "${how}"`, async (t) => {
    const client = await startStub(t, how);
    const hanging = assert.rejects(ask(client, "hang"), ClosedError);
    const closing = client.close({ graceMs: how === "well" ? 30_000 : 50 });
    assert.equal(client.status, "closing");
    await assert.rejects(ask(client, "echo"), ClosedError);
    assert.deepEqual(await closing, { exitCode, signal, stderr: "" });
    assert.equal(await client.close(), await closing);
    assert.equal(await client.exited, await closing);
    await hanging;
    assert.equal(client.status, "closed");
    assert.deepEqual(children(), []);
  });
}

test("a server that has stopped reading is closed all the same", async (t) => {
  const client = await startStub(t);
  await ask(client, "stop reading");
  const calls = Array.from({ length: 5 }, () => client.traces.search({ query: "x".repeat(900_000) }));
  const closing = client.close({ graceMs: 50 });
  for (const call of calls) await assert.rejects(call, ClosedError);
  assert.equal((await closing).signal, "SIGTERM");
});

test("what a server that has stopped reading cannot take is refused at last", async (t) => {
  const client = await startStub(t);
  await ask(client, "stop reading");
  const query = "x".repeat(900_000);
  const codes: Promise<unknown>[] = [];
  for (let i = 0; i < 80; i++) codes.push(client.traces.search({ query }).catch(({ code }: SendError) => code));
  assert.equal(await codes.at(-1), "busy");
  await client.close({ graceMs: 50 });
  assert.deepEqual([...new Set(await Promise.all(codes))].sort(), ["busy", "closed"]);
});

test("a server that ends is started again, and nothing it had is sent again", async (t) => {
  const client = await startStub(t, "well", { restart: true });
  client.configure({ recap: { auto: false } });
  const restarted = next(client, "client.restarted");
  const { pid } = client.server;
  const [hanging, crashing] = [ask(client, "hang"), ask(client, "crash")];
  const opened = next(client, "client.exited").then(({ restarting }) => {
    assert.ok(restarting);
    assert.equal(client.status, "restarting");
    return ask(client, "echo");
  });
  await assert.rejects(crashing, ExitError);
  await assert.rejects(hanging, ExitError);
  assert.deepEqual(await opened, { echo: { sessionId: "echo" } });
  assert.deepEqual(await restarted, { restarts: 1 });
  assert.equal(client.status, "ready");
  assert.notEqual(client.server.pid, pid);
  const { notified } = await report(client);
  assert.deepEqual(notified, ["initialized", "workspace/didChangeConfiguration"]);
});

test("a call that waits for a restart has its limits all the same", async (t) => {
  const client = await startStub(t, "well", { restart: true });
  await assert.rejects(ask(client, "crash"), ExitError);
  const controller = new AbortController();
  const cancelled = ask(client, "echo", { signal: controller.signal });
  controller.abort();
  await assert.rejects(cancelled, { code: "cancelled" });
  await assert.rejects(ask(client, "echo", { timeoutMs: 1 }), TimeoutError);
});

test("closing between two processes ends it", async (t) => {
  const client = await startStub(t, "well", { restart: true });
  await assert.rejects(ask(client, "crash"), ExitError);
  const waiting = assert.rejects(ask(client, "echo"), ClosedError);
  assert.equal((await client.close()).exitCode, 3);
  await waiting;
  assert.equal(client.status, "closed");
});

/** Arguments of a stub that starts well once, and after that as `how` says. */
function wellOnce(how: string): string[] {
  const folder = JSON.stringify(temporaryFolder());
  const script = `import { existsSync, rmSync } from "node:fs";
    process.argv.splice(1, 0, "stub", existsSync(${folder}) ? "well" : ${JSON.stringify(how)});
    rmSync(${folder}, { recursive: true, force: true });
    await import(${JSON.stringify(STUB)});`;
  return ["--input-type=module", "-e", script, "--"];
}

test("closing ends a start that is under way", async (t) => {
  const client = await startStub(t, "well", { args: wellOnce("mute"), restart: true });
  await assert.rejects(ask(client, "crash"), ExitError);
  await eventually(() => children().length === 1, "the next process is there");
  await client.close({ graceMs: 50 });
  assert.equal(client.status, "closed");
  assert.deepEqual(children(), []);
});

test("a server that does not come up again is given up", async (t) => {
  const client = await startStub(t, "well", { args: wellOnce("crash"), restart: true });
  const ends: (number | null)[] = [];
  client.on("client.exited", ({ exitCode }) => ends.push(exitCode));
  await assert.rejects(ask(client, "crash"), ExitError);
  await assert.rejects(ask(client, "echo"), ExitError);
  assert.deepEqual(ends, [3, 3, 3, 3, 3]);
});

test("the server gets the safe part of the host's environment, and what it is given", async (t) => {
  process.env["SECRET_KEY"] = "host's";
  process.env["NAMED_KEY"] = "needed";
  process.env["PYTHONPATH"] = "/elsewhere";
  const folder = temporaryFolder();
  const options = {
    env: { EXTRA: "1", HOME: undefined },
    settings: { models: { apiKeyEnv: "NAMED_KEY" } },
    cwd: folder,
  };
  const { env, cwd } = given(await startStub(t, "well", options));
  const { EXTRA, HOME, NAMED_KEY, SECRET_KEY, PYTHONPATH, PATH } = env;
  assert.deepEqual([EXTRA, HOME, NAMED_KEY, SECRET_KEY, PYTHONPATH], ["1", undefined, "needed", undefined, undefined]);
  assert.equal(PATH, process.env["PATH"]);
  assert.equal(cwd, folder);
});
