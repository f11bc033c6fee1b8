/** One call against a server that is well, odd or wrong. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CancelledError,
  type Events,
  ResponseError,
  SendError,
  TimeoutError,
  type WorkDoneProgress,
} from "../src/index.js";
import { ask, given, next, report, startStub } from "./stubbed.js";

test("a call is answered", async (t) => {
  const client = await startStub(t);
  assert.deepEqual(await ask(client, "echo"), { echo: { sessionId: "echo" } });
});

test("calls made at once get their own answers", async (t) => {
  const client = await startStub(t);
  const numbers = Array.from({ length: 2000 }, (_, limit) => limit);
  const answers = await Promise.all(numbers.map((limit) => client.traces.search({ query: "q", limit })));
  assert.deepEqual(
    answers,
    numbers.map((limit) => ({ echo: { query: "q", limit } })),
  );
});

test("many calls under one signal print nothing", async (t) => {
  const client = await startStub(t);
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 50 }, () => ask(client, "echo", { signal })));
  process.off("warning", warned);
  assert.deepEqual(warnings, []);
});

test("a signal that is not Node's own cancels too", async (t) => {
  const client = await startStub(t);
  const controller = new AbortController();
  const { signal } = controller;
  const foreign = {
    addEventListener: signal.addEventListener.bind(signal),
    removeEventListener: signal.removeEventListener.bind(signal),
  } as unknown as AbortSignal;
  const hanging = ask(client, "hang", { signal: foreign });
  controller.abort();
  await assert.rejects(hanging, CancelledError);
});

test("a big message with a half surrogate pair arrives whole", async (t) => {
  const client = await startStub(t);
  const { text } = (await ask(client, "big")) as { text: string };
  assert.equal(text, "\ud83d漢".repeat(1_000_000));
  const query = "\ud83d".repeat(100_000);
  assert.deepEqual(await client.traces.search({ query }), { echo: { query } });
});

test("an error of the server is a ResponseError", async (t) => {
  const client = await startStub(t);
  await assert.rejects(ask(client, "refuse"), (error) => {
    assert.ok(error instanceof ResponseError);
    assert.equal(error.name, "ResponseError");
    assert.equal(error.message, "recap/get: busy");
    assert.equal(error.code, -32803);
    assert.equal(error.kind, "busy");
    assert.equal(error.retryable, true);
    assert.deepEqual(error.data, { kind: "busy", retryable: true, retryAfterMs: 5 });
    return true;
  });
});

test("an answer with neither result nor error is an error", async (t) => {
  await assert.rejects(ask(await startStub(t), "neither"), ResponseError);
});

test("an answer that comes too late goes nowhere, and the server is told", async (t) => {
  const client = await startStub(t);
  await assert.rejects(ask(client, "late", { timeoutMs: 50 }), (error) => {
    assert.ok(error instanceof TimeoutError);
    assert.deepEqual(error.data, { method: "recap/get", timeoutMs: 50 });
    return error.code === "timeout";
  });
  assert.deepEqual(await ask(client, "answer the late one"), { echo: { sessionId: "answer the late one" } });
  assert.deepEqual((await report(client)).cancelled, [2]);
});

test("the client's own time limit holds for every call", async (t) => {
  const client = await startStub(t, "well", { timeoutMs: 5000 });
  await assert.rejects(ask(client, "hang", { timeoutMs: 20 }), TimeoutError);
  assert.deepEqual(await ask(client, "echo", { timeoutMs: Number.POSITIVE_INFINITY }), { echo: { sessionId: "echo" } });
});

test("the second of two answers is ignored", async (t) => {
  const client = await startStub(t);
  assert.deepEqual(await ask(client, "twice"), { echo: { sessionId: "twice" } });
  assert.deepEqual(await ask(client, "echo"), { echo: { sessionId: "echo" } });
});

test("an abort cancels, here and there", async (t) => {
  const client = await startStub(t);
  const controller = new AbortController();
  const hanging = ask(client, "hang", { signal: controller.signal });
  controller.abort(new Error("changed my mind"));
  await assert.rejects(hanging, (error) => {
    assert.ok(error instanceof CancelledError);
    assert.equal((error.cause as Error).message, "changed my mind");
    return error.code === "cancelled";
  });
  assert.deepEqual((await report(client)).cancelled, [2]);
});

test("what was aborted before is never sent", async (t) => {
  const client = await startStub(t);
  await assert.rejects(ask(client, "crash", { signal: AbortSignal.abort() }), CancelledError);
  assert.deepEqual((await report(client)).cancelled, []);
});

test("a signal that is aborted after the answer changes nothing", async (t) => {
  const client = await startStub(t);
  const controller = new AbortController();
  await ask(client, "echo", { signal: controller.signal });
  controller.abort();
  assert.deepEqual((await report(client)).cancelled, []);
});

test("what JSON cannot say is not sent", async (t) => {
  const client = await startStub(t);
  const circle: Record<string, unknown> = {};
  circle["itself"] = circle;
  for (const args of [1n, circle]) {
    const batch = { turnIndex: 0, timestamp: 0, toolCalls: [{ toolCallId: "c", toolName: "t", args }] };
    await assert.rejects(client.condense.summarize({ sessionId: "s", batch }), (error) => {
      assert.ok(error instanceof SendError);
      return error.code === "not_json";
    });
  }
  client.notify("recap/onInput", { sessionId: 1n as unknown as string, kind: "typed" });
  assert.deepEqual((await report(client)).notified, ["initialized"]);
});

test("what is larger than the server takes is not sent", async (t) => {
  const client = await startStub(t);
  await assert.rejects(client.traces.search({ query: "x".repeat(1_000_000) }), (error) => {
    assert.ok(error instanceof SendError);
    return error.code === "too_large";
  });
  client.notify("recap/onTurnStart", { sessionId: "x".repeat(1_000_000) });
  assert.deepEqual((await report(client)).notified, ["initialized"]);
});

test("an error without an id is a warning", async (t) => {
  const client = await startStub(t);
  const warning = next(client, "client.warning");
  await ask(client, "no id");
  assert.match((await warning).message, /what\?/);
});

test("progress goes to the call that asked for it", async (t) => {
  const client = await startStub(t);
  const progress: WorkDoneProgress[] = [];
  await ask(client, "events", { onProgress: (value) => progress.push(value) });
  assert.deepEqual(progress, [{ kind: "begin", title: "t" }]);
});

test("an onProgress that throws is a warning", async (t) => {
  const client = await startStub(t);
  const warning = next(client, "client.warning");
  const onProgress = (): void => {
    throw new Error("oops");
  };
  await ask(client, "events", { onProgress });
  assert.equal(((await warning).error as Error).message, "oops");
});

test("events reach their listeners until those are taken away", async (t) => {
  const scopes: Events["usage.limit"][] = [];
  const client = await startStub(t, "well", { on: { "usage.limit": (params) => scopes.push(params) } });
  const warnings: string[] = [];
  client.on("client.warning", ({ message }) => warnings.push(message));
  client.on("usage.limit", () => {
    throw new Error("oops");
  });
  const stop = client.on("usage.limit", (params) => scopes.push(params));
  await ask(client, "events");
  assert.equal(scopes.length, 2);
  stop();
  stop();
  await ask(client, "events");
  assert.equal(scopes.length, 3);
  assert.deepEqual(warnings, Array(2).fill("a listener of usage.limit threw"));
});

test("a notification is sent in its place among the calls", async (t) => {
  const client = await startStub(t);
  client.session.changed({ sessionId: "s", kind: "message" });
  client.configure({ recap: { auto: false } });
  assert.deepEqual((await report(client)).notified, [
    "initialized",
    "session/changed",
    "workspace/didChangeConfiguration",
  ]);
});

test("capabilities are what handlers there are, and what the host says", async (t) => {
  const recap = { canShow: true, canSave: true };
  const settings = { condense: { minBatchChars: 0 } };
  const handlers = { "host/getContext": () => ({ messages: [] }) };
  const client = await startStub(t, "well", { handlers, capabilities: { recap }, settings });
  const { params, args } = given(client);
  assert.deepEqual(params.capabilities?.experimental?.afterturn, { protocolVersion: 1, recap, context: true });
  assert.equal(params.processId, process.pid);
  assert.deepEqual(params.initializationOptions, settings);
  assert.deepEqual(args, ["--stdio", `--clientProcessId=${process.pid}`]);
});
