/** Model calls of the sidecar, made with the person's own models and keys through pi. */
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as afterturn from "@afterturn/client";
import type { CallOptions, Model, Prompt, Registry, Reply } from "./host.js";
import { text } from "./messages.js";

const OLDER_LIBRARY = "@mariozechner/pi-ai";
const CODEX_API = "openai-codex-responses";

/** Rejects where there is no such model or no key for it; a call that fails says so in `stopReason`. */
export async function createMessage(
  params: afterturn.CreateMessageParams,
  signal: AbortSignal,
  registry: Registry,
  current: Model | undefined,
): Promise<afterturn.CreateMessageResult> {
  const model = params.model ? named(params.model, registry) : current;
  if (!model) throw new Error(params.model ? `pi knows no model ${params.model}` : "pi has no model selected");
  const options: CallOptions = {
    maxTokens: params.maxTokens,
    signal,
    cacheRetention: "none",
    ...(params.temperature == null ? {} : { temperature: params.temperature }),
  };
  const reply = await answer(model, promptOf(params), options, registry);
  const name = `${model.provider}/${model.id}`;
  return {
    text: text(reply.content),
    stopReason: STOPS.has(reply.stopReason) ? reply.stopReason : "error",
    model: name,
    usage: usageOf(reply, name),
  };
}

/** Any other end is no answer to a prompt without tools. */
const STOPS = new Set(["stop", "length", "aborted"]);

function named(name: string, registry: Registry): Model | undefined {
  const slash = name.indexOf("/");
  return registry.find(name.slice(0, slash), name.slice(slash + 1));
}

/** The sidecar's prompts are one message of the user each; calls and roles of a session are text in it. */
function promptOf(params: afterturn.CreateMessageParams): Prompt {
  return {
    ...(params.system ? { systemPrompt: params.system } : {}),
    messages: params.messages.map(({ content }) => ({ role: "user", content: text(content), timestamp: Date.now() })),
  };
}

/**
 * No reasoning is asked for, which the APIs of pi take as off where it can be; but in the older line that of Codex
 * leaves it to the server, and has to be told.
 */
async function answer(model: Model, prompt: Prompt, options: CallOptions, registry: Registry): Promise<Reply> {
  if (registry.streamSimple) return registry.streamSimple(model, prompt, options).result();
  const auth = await registry.getApiKeyAndHeaders(model);
  if (!auth.ok) throw new Error(`pi has no key for ${model.provider}`);
  const { complete, completeSimple } = await olderLibrary();
  const { apiKey, headers } = auth;
  const all = { ...options, ...(apiKey ? { apiKey } : {}), ...(headers ? { headers } : {}) };
  if (model.api === CODEX_API) return complete(model, prompt, { ...all, reasoningEffort: "none" });
  return completeSimple(model, prompt, all);
}

interface OlderLibrary {
  complete(model: Model, prompt: Prompt, options: CallOptions & { reasoningEffort: "none" }): Promise<Reply>;
  completeSimple(model: Model, prompt: Prompt, options: CallOptions): Promise<Reply>;
}

/** The model library of the older line, as pi itself has loaded it: looked for where pi's own program would. */
async function olderLibrary(): Promise<OlderLibrary> {
  const program = realpathSync(process.argv[1] ?? "");
  const folders = createRequire(program).resolve.paths(OLDER_LIBRARY) ?? [];
  const files = folders.map((folder) => join(folder, OLDER_LIBRARY, "dist", "index.js"));
  const file = files.find((path) => existsSync(path));
  if (!file) throw new Error("this pi offers no model calls to extensions");
  return import(pathToFileURL(file).href) as Promise<OlderLibrary>;
}

function usageOf({ usage }: Reply, model: string): afterturn.SamplingUsage {
  return {
    model,
    inputTokens: usage?.input === undefined ? null : usage.input + (usage.cacheRead ?? 0),
    outputTokens: usage?.output ?? null,
    cachedTokens: usage?.cacheRead ?? null,
    // pi counts a model without a price as free.
    cost: usage?.cost?.total || null,
  };
}
