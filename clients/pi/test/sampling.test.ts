import assert from "node:assert/strict";
import { test } from "node:test";
import type { CreateMessageParams } from "@afterturn/client";
import type { CallOptions, Model, Prompt, Registry, Reply } from "../src/host.js";
import { createMessage } from "../src/sampling.js";

const MODELS: Model[] = [
  { provider: "p", id: "m", api: "x" },
  { provider: "p", id: "vendor/n", api: "x" },
];
const PARAMS: CreateMessageParams = {
  purpose: "recap",
  messages: [{ role: "user", content: "what is it about?" }],
  maxTokens: 256,
  reasoning: "off",
  cache: "none",
  sessionId: "s",
};
const { signal } = new AbortController();

interface Made {
  model: Model;
  prompt: Prompt;
  options: CallOptions;
}

/** A registry whose models answer `reply`, and the calls that were made. */
function registry(reply: Partial<Reply> = {}): { registry: Registry; made: Made[] } {
  const made: Made[] = [];
  const answer: Reply = {
    content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "Notes." }],
    stopReason: "stop",
    ...reply,
  };
  return {
    made,
    registry: {
      find: (provider, id) => MODELS.find((each) => each.provider === provider && each.id === id),
      getAvailable: () => MODELS,
      streamSimple(model, prompt, options) {
        made.push({ model, prompt, options });
        return { result: async () => answer };
      },
      getApiKeyAndHeaders: async () => ({ ok: false, error: "none" }),
    },
  };
}

test("the session's model answers, without reasoning, tools, cache or a prompt of its own", async () => {
  const { registry: models, made } = registry();
  const result = await createMessage(PARAMS, signal, models, MODELS[0]);
  assert.deepEqual([result.text, result.stopReason, result.model], ["Notes.", "stop", "p/m"]);
  const { prompt, options } = made[0] as Made;
  assert.deepEqual(Object.keys(prompt), ["messages"]);
  assert.deepEqual(options, { maxTokens: 256, signal, cacheRetention: "none" });
});

test("a model's name is split at the first slash", async () => {
  const { registry: models, made } = registry();
  await createMessage({ ...PARAMS, model: "p/vendor/n" }, signal, models, MODELS[0]);
  assert.equal(made[0]?.model.id, "vendor/n");
});

test("no model, an unknown one, or no key: an error, and no other model instead", async () => {
  const { registry: models, made } = registry();
  await assert.rejects(createMessage(PARAMS, signal, models, undefined), /no model selected/);
  await assert.rejects(createMessage({ ...PARAMS, model: "q/m" }, signal, models, MODELS[0]), /knows no model q\/m/);
  const { streamSimple: _, ...older } = models;
  await assert.rejects(createMessage(PARAMS, signal, older, MODELS[0]), /no key for p/);
  assert.deepEqual(made, []);
});

const STOPS: [said: string, expected: string][] = [
  ["stop", "stop"],
  ["length", "length"],
  ["aborted", "aborted"],
  ["error", "error"],
  ["toolUse", "error"],
];

for (const [said, expected] of STOPS) {
  test(`a reply that ends with ${said}`, async () => {
    const { registry: models } = registry({ stopReason: said });
    assert.equal((await createMessage(PARAMS, signal, models, MODELS[0])).stopReason, expected);
  });
}

test("usage counts cached input in, and an unknown price is none", async () => {
  const priced = registry({ usage: { input: 10, output: 5, cacheRead: 90, cost: { total: 0.01 } } }).registry;
  const free = registry({ usage: { input: 10, output: 5, cost: { total: 0 } } }).registry;
  assert.deepEqual((await createMessage(PARAMS, signal, priced, MODELS[0])).usage, {
    model: "p/m",
    inputTokens: 100,
    outputTokens: 5,
    cachedTokens: 90,
    cost: 0.01,
  });
  assert.equal((await createMessage(PARAMS, signal, free, MODELS[0])).usage?.cost, null);
});
