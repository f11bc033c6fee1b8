/** The client and the real server: the three jobs with the host's model, and a server that is killed in between. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Afterturn, type RecapContext, type StartOptions } from "../src/index.js";
import { SERVER, temporaryFolder } from "./places.js";
import { children, next } from "./stubbed.js";

const OUTPUT = `${"test_login.py::test_redirect PASSED in 0.01 s\n".repeat(100)}1 failed, 100 passed\n\ud83d`;

const CONTEXT: RecapContext = {
  messages: [
    { role: "user", content: "Fix the login redirect in auth.py" },
    { role: "assistant", content: "The redirect in auth.py drops the query; I have not changed it yet." },
  ],
};

async function startServer(t: TestContext, options: StartOptions = {}): Promise<Afterturn> {
  const env = { AFTERTURN_HOME: temporaryFolder() };
  const client = await Afterturn.start({ command: SERVER, env, ...options });
  const alive = setInterval(() => {}, 60_000);
  t.after(async () => {
    await client.close();
    clearInterval(alive);
    assert.deepEqual(children(), []);
  });
  return client;
}

async function summarize(client: Afterturn): Promise<string> {
  const toolCalls = [{ toolCallId: "c1", toolName: "bash", args: { command: "pytest" }, resultText: OUTPUT }];
  const result = await client.condense.summarize({ sessionId: "s", batch: { turnIndex: 0, timestamp: 0, toolCalls } });
  assert.equal(result.outcome, "summarized");
  return result.refs[0]?.shortId as string;
}

async function assertResolves(client: Afterturn, ref: string): Promise<void> {
  const { records } = await client.condense.resolveRef({ sessionId: "s", refs: [ref] });
  assert.equal(records[0]?.text, OUTPUT);
}

test("the server asks the host's model, and gives every original back", async (t) => {
  const purposes: string[] = [];
  const handlers: StartOptions["handlers"] = {
    "sampling/createMessage": ({ purpose }) => {
      purposes.push(purpose);
      return { text: "- [[1:bash]] 1 failed, 100 passed", stopReason: "stop", model: "host/model" };
    },
  };
  const client = await startServer(t, { handlers });
  await assertResolves(client, await summarize(client));
  assert.deepEqual(purposes, ["condense.batch"]);
});

test("the server asks for the context, and a recap comes of it", async (t) => {
  const handlers: StartOptions["handlers"] = {
    "host/getContext": async ({ sessionId }) => {
      assert.equal(sessionId, "s");
      return CONTEXT;
    },
  };
  const client = await startServer(t, { handlers, capabilities: { recap: { canShow: true } } });
  const { recap } = await client.recap.now({ sessionId: "s" });
  assert.match(recap?.text ?? "", /login redirect/);
  assert.deepEqual((await client.recap.get({ sessionId: "s" })).recap?.recapId, recap?.recapId);
});

test("an episode is captured, told of and kept", async (t) => {
  const client = await startServer(t, { settings: { embeddings: { provider: "none" } } });
  const done = next(client, "capture.done");
  const episode = {
    id: "e1",
    sessionId: "s",
    startedAt: 1,
    turns: [
      { role: "user", content: "Fix the login redirect", ts: 1 },
      { role: "assistant", content: "The redirect keeps the query now.", ts: 2 },
    ],
  };
  const { status, jobId } = await client.capture.episodeFinalized({ episode });
  assert.equal(status, "accepted");
  assert.equal((await done).jobId, jobId);
  const { traces } = await client.traces.list({ episodeId: "e1" });
  assert.deepEqual(
    traces.map(({ userText }) => userText),
    ["Fix the login redirect"],
  );
});

test("settings take effect, and outlive the server", async (t) => {
  const client = await startServer(t, { restart: true });
  client.configure({ condense: { enabled: false } });
  const batch = {
    turnIndex: 0,
    timestamp: 0,
    toolCalls: [{ toolCallId: "c", toolName: "bash", resultText: OUTPUT }],
  };
  for (const round of ["before", "after"]) {
    const { outcome } = await client.condense.summarize({ sessionId: round, batch });
    assert.equal(outcome, "disabled");
    if (round === "before") await killServer(client);
  }
});

test("what a server that was killed had acknowledged is there for the next", async (t) => {
  const client = await startServer(t, { restart: true });
  const ref = await summarize(client);
  await killServer(client);
  await assertResolves(client, ref);
});

/** The next call may come before the next process. */
async function killServer(client: Afterturn): Promise<void> {
  const exited = next(client, "client.exited");
  process.kill(client.server.pid, "SIGKILL");
  assert.deepEqual((await exited).restarting, true);
}
