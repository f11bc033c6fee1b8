import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusResult } from "../src/protocol.js";
import { statusPage } from "../src/statusPage.js";

const STATUS: StatusResult & { sessionId: string | null } = {
  version: "0.1.0",
  protocolVersion: 1,
  process: { pid: 42, rssBytes: 30_000_000, uptimeMs: 61_000, loadedModules: [] },
  providers: [{ job: "recap", provider: "none", model: null, state: "ready" }],
  destinations: [],
  store: { backend: "sqlite", path: "/home/u/afterturn.db", bytes: 1500 },
  queue: { requests: 1, batches: 0, captureJobs: 0, pendingEmbeddings: 0, modelCalls: 0, modelCallsWaiting: 0 },
  usage: {
    today: { model: "*", inputTokens: 10, outputTokens: null, cost: null, calls: 1 },
    limits: { dailyTokens: null, dailyCostUsd: null, sessionTokens: null },
  },
  settingsProblems: [],
  sessionId: null,
};

function check(name: string, changed: Partial<typeof STATUS>, lines: string[]): void {
  test(`the status page: ${name}`, () => {
    const page = statusPage({ ...STATUS, ...changed }).split("\n");
    for (const line of lines) assert.ok(page.includes(line), `${line} is not in\n${page.join("\n")}`);
  });
}

check("a server that does nothing", {}, [
  "# afterturn 0.1.0",
  "- process 42, 30.0 MB",
  "- running for 61 seconds",
  "- no session of this folder is known",
  "- sqlite in `/home/u/afterturn.db`, 1.5 kB",
  "- recap: no model",
  "Nothing leaves this machine.",
  "10 tokens in, unknown out, 1 call.",
]);
check("a session", { sessionId: "s1" }, ["- session: s1"]);
check("a store that fails", { store: { backend: "sqlite", path: null, bytes: null, problem: "disk full" } }, [
  "- sqlite",
  "- cannot be used: disk full",
]);
check("work that waits", { queue: { ...STATUS.queue, captureJobs: 2 } }, ["- 2 episodes not captured yet"]);
check(
  "a model that is paused",
  {
    providers: [{ job: "recap", provider: "litellm", model: "x/y", state: "paused", reason: "it failed" }],
    destinations: ["api.x.com"],
  },
  ["- recap: `x/y` by litellm, paused (it failed)", "- api.x.com"],
);
check("a bad setting", { settingsProblems: [{ path: "recap.auto", problem: "recap.auto must be boolean" }] }, [
  "## Settings that are not used",
  "- recap.auto must be boolean",
]);
