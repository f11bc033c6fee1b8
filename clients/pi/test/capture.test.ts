import assert from "node:assert/strict";
import { test } from "node:test";
import { piecesOf } from "../src/capture.js";
import type { Entry } from "../src/host.js";
import { assistant, branch, custom, edit, failure, result, tree, user } from "./entries.js";

const sent = (upTo: string): Partial<Entry> => custom("afterturn-sent", { upTo });
const captured = (upTo: string): Partial<Entry> => custom("afterturn-captured", { upTo, episodeId: "any" });

/** Each piece as its id, how it ended, where, and the ids of its turns. */
function pieces(entries: Entry[], ...others: Entry[]): string {
  return piecesOf(tree(entries, ...others), "s")
    .map(({ episode, closedBy, upTo }) => `${episode.id} ${closedBy} ${upTo} ${episode.turns.map(({ id }) => id)}`)
    .join("; ");
}

const CASES: [name: string, entries: Entry[], expected: string][] = [
  ["nothing", branch(), ""],
  ["nobody asked", branch(assistant("a")), ""],
  ["one request", branch(user("a"), assistant("b")), "s:e1 finalized e2 e1,e2"],
  [
    "the last of several names it",
    branch(user("a"), assistant("b"), user("c"), assistant("d")),
    "s:e3 finalized e4 e1,e2,e3,e4",
  ],
  [
    "from the last capture on",
    branch(user("a"), assistant("b"), captured("e2"), user("c"), assistant("d")),
    "s:e4 finalized e5 e4,e5",
  ],
  [
    "a capture that came late",
    branch(user("a"), assistant("b"), user("c"), captured("e2"), assistant("d")),
    "s:e3 finalized e5 e3,e5",
  ],
  ["nothing new", branch(user("a"), assistant("b"), captured("e2")), ""],
  [
    "what was sent without an answer is sent as it was",
    branch(user("a"), assistant("b"), sent("e2"), user("c"), assistant("d"), sent("e5"), user("e"), assistant("f")),
    "s:e1 finalized e2 e1,e2; s:e4 finalized e5 e4,e5; s:e7 finalized e8 e7,e8",
  ],
  [
    "sent without an answer, and then taken",
    branch(user("a"), assistant("b"), sent("e2"), captured("e2"), user("c"), assistant("d")),
    "s:e5 finalized e6 e5,e6",
  ],
  ["omitted entries", branch(user("a"), assistant("x"), assistant("b"), edit("e2", null)), "s:e1 finalized e3 e1,e3"],
  ["an edit is no omission", branch(user("a"), assistant("b"), edit("e2", "B")), "s:e1 finalized e2 e1,e2"],
  ["failed attempts", branch(user("a"), failure(), failure(), assistant("b")), "s:e1 finalized e4 e1,e4"],
  ["given up", branch(user("a"), assistant("b", { stopReason: "aborted" })), "s:e1 abandoned e2 e1,e2"],
  [
    "left in the middle",
    branch(user("a"), assistant("", {}, ["c", "bash"]), result("c", "x")),
    "s:e1 abandoned e3 e1,e2,e3",
  ],
];

for (const [name, entries, expected] of CASES) test(name, () => assert.equal(pieces(entries), expected));

test("what was captured on another branch is not captured again on this one", () => {
  // e1 and e2 are common; the capture went on to e4 there, and here e5 and e6 follow.
  const [e1, e2, e3, e4, marker, e5, e6] = branch(
    user("a"),
    assistant("b"),
    user("c"),
    assistant("d"),
    captured("e4"),
    user("e"),
    assistant("f"),
  ) as [Entry, Entry, Entry, Entry, Entry, Entry, Entry];
  const here = [e1, e2, { ...e5, parentId: "e2" }, e6];
  assert.equal(pieces(here, e3, e4, marker), "s:e6 finalized e7 e6,e7");
});

test("a call and its result are one tool turn; a call without one stays with its assistant", () => {
  const entries = branch(
    user("a"),
    assistant("look", {}, ["c1", "bash"], ["c2", "read"]),
    result("c1", "raw", { isError: true }),
    edit("e3", "digest"),
  );
  assert.deepEqual(piecesOf(tree(entries), "s")[0]?.episode.turns.slice(1), [
    {
      id: "e2",
      ts: 2,
      role: "assistant",
      content: "look",
      meta: { toolCalls: [{ toolCallId: "c2", name: "read", input: { of: "c2" } }] },
    },
    {
      id: "e3",
      ts: 3,
      role: "tool",
      content: null,
      meta: {
        name: "bash",
        toolCallId: "c1",
        input: { of: "c1" },
        output: "raw",
        startedAt: 2,
        endedAt: 3,
        errorCode: "error",
      },
    },
  ]);
});
