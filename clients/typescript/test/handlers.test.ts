/** Requests from the server, and the host's handlers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Handler } from "../src/index.js";
import { answersOf, ask, next, startStub } from "./stubbed.js";

type CreateMessage = Handler<"sampling/createMessage">;

const ANSWER = { text: "hi", stopReason: "stop", model: "a/b" };

const circle: Record<string, unknown> = {};
circle["itself"] = circle;

const CASES: [name: string, handler: CreateMessage, answer: object][] = [
  ["answers at once", () => ANSWER, { result: ANSWER }],
  [
    "answers later",
    async ({ maxTokens }) => ({ ...ANSWER, text: `${maxTokens}` }),
    { result: { ...ANSWER, text: "7" } },
  ],
  ["throws", () => assert.fail("secret"), { error: { code: -32603, message: "The host's handler failed" } }],
  [
    "rejects",
    () => Promise.reject(new Error("secret")),
    { error: { code: -32603, message: "The host's handler failed" } },
  ],
  ["gives nothing", () => undefined as never, { result: {} }],
  [
    "gives what JSON cannot say",
    () => circle as never,
    { error: { code: -32603, message: "The host's handler failed" } },
  ],
  [
    "gives more than the server takes",
    () => ({ ...ANSWER, text: "x".repeat(1_000_000) }),
    { error: { code: -32603, message: "The host's handler failed" } },
  ],
];

for (const [name, handler, answer] of CASES) {
  test(`a handler that ${name}`, async (t) => {
    const client = await startStub(t, "well", { handlers: { "sampling/createMessage": handler } });
    await ask(client, "ask");
    assert.deepEqual(await answersOf(client), [{ jsonrpc: "2.0", id: "q1", ...answer }]);
  });
}

test("the host learns why its handler failed", async (t) => {
  const handlers = { "sampling/createMessage": () => Promise.reject(new Error("no key")) };
  const client = await startStub(t, "well", { handlers });
  const warning = next(client, "client.warning");
  await ask(client, "ask");
  assert.equal(((await warning).error as Error).message, "no key");
});

test("a request that is cancelled is answered once, at once, and its handler told", async (t) => {
  let tell!: () => void;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const createMessage: CreateMessage = async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    tell();
    return ANSWER;
  };
  const client = await startStub(t, "well", { handlers: { "sampling/createMessage": createMessage } });
  await ask(client, "ask and cancel");
  await told;
  const answers = await answersOf(client);
  assert.deepEqual(answers, [{ jsonrpc: "2.0", id: "q2", error: { code: -32800, message: "Cancelled" } }]);
});

test("what the host cannot answer is said so", async (t) => {
  const client = await startStub(t);
  await ask(client, "ask for the unknown");
  const [answer] = await answersOf(client);
  assert.equal(answer?.error?.code, -32601);
});

test("a handler is told when the server has gone", async (t) => {
  const signals: AbortSignal[] = [];
  const createMessage: CreateMessage = (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const client = await startStub(t, "well", { handlers: { "sampling/createMessage": createMessage } });
  await ask(client, "ask");
  await client.close();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  );
});
