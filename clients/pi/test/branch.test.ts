import assert from "node:assert/strict";
import { test } from "node:test";
import { firstRequest, modelInfo, projection, recapContext, revision, savedRecap, turnCount } from "../src/branch.js";
import type { Entry } from "../src/host.js";
import { text } from "../src/messages.js";
import { assistant, branch, custom, edit, failure, message, result, user } from "./entries.js";

const compaction = (firstKeptEntryId: string): Partial<Entry> => ({
  type: "compaction",
  summary: "what was before",
  firstKeptEntryId,
});

const seen = (entries: Entry[]) =>
  projection(entries).map(({ entry, message: said }) => [entry.id, said.summary ?? text(said.content)]);

const PROJECTIONS: [name: string, entries: Entry[], expected: [id: string, text: string][]][] = [
  ["plain", branch(user("a"), assistant("b")), [["e1", "a"], ["e2", "b"]]],
  [
    "prompts and bookkeeping are no part",
    branch(message("system", "prompt"), user("a"), custom("x", {})),
    [["e2", "a"]],
  ],
  ["a replacement", branch(user("a"), edit("e1", "A")), [["e1", "A"]]],
  ["the latest edit counts", branch(user("a"), edit("e1", "A"), edit("e1", "B")), [["e1", "B"]]],
  ["an omission", branch(user("a"), user("b"), edit("e1", null)), [["e2", "b"]]],
  ["what was retried", branch(user("a"), failure(), assistant("b")), [["e1", "a"], ["e3", "b"]]],
  ["what failed for good", branch(user("a"), failure()), [["e1", "a"], ["e2", ""]]],
  [
    "a compaction",
    branch(user("a"), assistant("b"), user("c"), compaction("e3"), user("d")),
    [["e4", "what was before"], ["e3", "c"], ["e5", "d"]],
  ],
  ["one that keeps nothing", branch(user("a"), compaction("e2"), user("b")), [["e2", "what was before"], ["e3", "b"]]],
  [
    "an older one in what is kept",
    branch(compaction("e1"), user("a"), compaction("e1"), user("b")),
    [["e3", "what was before"], ["e2", "a"], ["e4", "b"]],
  ],
  [
    "an edit before the kept part is over",
    branch(user("a"), edit("e1", "A"), user("b"), compaction("e3")),
    [["e4", "what was before"], ["e3", "b"]],
  ],
  ["an injected message", branch({ type: "custom_message", content: "hint" }), [["e1", "hint"]]],
];

for (const [name, entries, expected] of PROJECTIONS) {
  test(`projection: ${name}`, () => assert.deepEqual(seen(entries), expected));
}

const REQUESTS: [name: string, entries: Entry[], expected: string | undefined][] = [
  ["none", branch(assistant("b")), undefined],
  ["the earliest", branch(user("a"), user("b")), "a"],
  ["from before a compaction", branch(user("a"), user("b"), compaction("e2")), "a"],
  ["as it was edited", branch(user("a"), edit("e1", "A")), "A"],
  ["omitted: the next", branch(user("a"), user("b"), edit("e1", null)), "b"],
  [
    "only an image: the next",
    branch(message("user", [{ type: "image", data: "", mimeType: "image/png" }]), user("b")),
    "b",
  ],
];

for (const [name, entries, expected] of REQUESTS) {
  test(`first request: ${name}`, () => assert.equal(firstRequest(entries), expected));
}

const recap = custom("session-recap", { text: "R", model: "p/m" });
const SAVED: [name: string, entries: Entry[], expected: [text: string, current: boolean] | undefined][] = [
  ["none", branch(user("a")), undefined],
  ["current", branch(user("a"), recap), ["R", true]],
  [
    "after metadata",
    branch(user("a"), recap, { type: "model_change" }, { type: "label" }, custom("other", {})),
    ["R", true],
  ],
  ["after a prompt that pi wrote down", branch(user("a"), recap, message("system", "prompt")), ["R", true]],
  ["after a message", branch(user("a"), recap, user("b")), ["R", false]],
  ["after a compaction", branch(user("a"), recap, compaction("e1")), ["R", false]],
  ["after a branch summary", branch(user("a"), recap, { type: "branch_summary", summary: "s" }), ["R", false]],
  ["after an edit", branch(user("a"), recap, edit("e1", "A")), ["R", false]],
  ["the newest", branch(recap, custom("session-recap", { text: "S", model: null })), ["S", true]],
  ["one that cannot be read is none", branch(recap, custom("session-recap", { text: 7 })), ["R", true]],
];

for (const [name, entries, expected] of SAVED) {
  test(`saved recap: ${name}`, () => {
    const saved = savedRecap(entries);
    assert.deepEqual(saved && [saved.text, saved.current], expected);
  });
}

test("our own entries do not change the revision", () => {
  const before = branch(user("a"), assistant("b"));
  assert.equal(revision(before), "e2");
  assert.equal(revision(branch(user("a"), assistant("b"), recap, custom("afterturn-captured", {}))), "e2");
  assert.equal(revision(branch(user("a"), assistant("b"), edit("e1", "A"))), "e3");
});

test("turns are counted over the whole branch", () => {
  assert.equal(turnCount(branch(user("a"), assistant("b"), compaction("e1"), assistant("c"))), 2);
});

test("a recap's context says what the model sees", () => {
  const entries = branch(user("a"), assistant("", {}, ["c1", "bash"]), result("c1", "out", { isError: true }));
  assert.deepEqual(recapContext(entries, undefined), {
    revision: "e3",
    firstUserRequest: "a",
    messages: [
      { id: "e1", role: "user", content: [{ type: "text", text: "a" }], timestamp: 1 },
      {
        id: "e2",
        role: "assistant",
        content: [],
        toolCalls: [{ id: "c1", name: "bash", input: { of: "c1" } }],
        stopReason: "toolUse",
        timestamp: 2,
      },
      {
        id: "e3",
        role: "tool",
        content: [{ type: "text", text: "out" }],
        toolCallId: "c1",
        toolName: "bash",
        isError: true,
        timestamp: 3,
      },
    ],
  });
});

test("models of all providers can be named", () => {
  const model = { provider: "p", id: "m", api: "x" };
  const all = [model, { provider: "q", id: "o", api: "y" }];
  const available = [
    { provider: "p", id: "m" },
    { provider: "q", id: "o" },
  ];
  assert.deepEqual(modelInfo(model, all), { ...model, available });
});
