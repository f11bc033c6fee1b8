import assert from "node:assert/strict";
import { test } from "node:test";
import { Condensing, fromItems, type Replacement } from "../src/condensing.js";
import type { Boundary, Entry, Message } from "../src/host.js";
import { branch, custom, edit, result, tree } from "./entries.js";

const digest: Replacement = { toolCallId: "c1", resultTimestamp: 3, entryId: "e1", text: "digest `t1`" };

function messages(...entries: Entry[]): Message[] {
  return structuredClone(entries.flatMap((entry) => (entry.message ? [entry.message] : [])));
}

const boundary = (entries: Entry[]): Boundary => ({
  entries: [],
  context: { contextEntries: entries.map((sourceEntry) => ({ sourceEntry })) },
});

function condensing(...replacements: Replacement[]): { condensing: Condensing; kept: Replacement[][] } {
  const kept: Replacement[][] = [];
  const made = new Condensing((fresh) => kept.push(fresh), true);
  made.take(replacements);
  return { condensing: made, kept };
}

function swapped(made: Condensing, ...entries: Entry[]): unknown[] {
  const list = messages(...entries);
  made.swap(list);
  return list.map(({ content }) => (content as { text: string }[])[0]?.text);
}

test("a result is swapped, and only that one", () => {
  const entries = branch(result("c1", "raw"), result("c2", "other"), result("c1", "later", { timestamp: 9 }));
  assert.deepEqual(swapped(condensing(digest).condensing, ...entries), ["digest `t1`", "other", "later"]);
});

test("swapping twice gives the same bytes", () => {
  const { condensing: made } = condensing(digest);
  const list = messages(...branch(result("c1", "raw")));
  made.swap(list);
  const once = JSON.stringify(list);
  made.swap(list);
  assert.equal(JSON.stringify(list), once);
});

test("an edit is proposed once its target is in the context, until it is seen there", () => {
  const { condensing: made } = condensing(digest);
  const entries = branch(result("c1", "raw"));
  const proposed = [{ type: "context_edit", targetId: "e1", replacement: { content: "digest `t1`" } }];
  assert.deepEqual(made.drafts(boundary([])), []);
  assert.deepEqual(made.drafts(boundary(entries)), proposed);
  assert.deepEqual(made.drafts(boundary(entries)), proposed, "the first proposal was refused");
  assert.deepEqual(made.drafts(boundary(branch(result("c1", "raw"), edit("e1", "digest `t1`")))), []);
});

test("what somebody else has edited is theirs", () => {
  const { condensing: made } = condensing(digest);
  const entries = branch(result("c1", "raw"), edit("e1", "by hand"));
  made.restore(tree(entries));
  assert.deepEqual(made.drafts(boundary(entries)), []);
  assert.deepEqual(swapped(made, ...branch(result("c1", "by hand"))), ["by hand"]);
});

test("before an edit in the tree, the result is swapped again", () => {
  const { condensing: made } = condensing(digest);
  made.restore(tree(branch(result("c1", "raw"), edit("e1", "digest `t1`"))));
  made.restore(tree(branch(result("c1", "raw"))));
  assert.deepEqual(swapped(made, ...branch(result("c1", "raw"))), ["digest `t1`"]);
});

test("without entry ids, or without boundaries, nothing is proposed", () => {
  const { entryId: _, ...bare } = digest;
  assert.deepEqual(condensing(bare).condensing.drafts(boundary(branch(result("c1", "raw")))), []);
  assert.deepEqual(condensing(digest).condensing.drafts({}), []);
});

test("what is new is kept, what is known is left as it was", () => {
  const { condensing: made, kept } = condensing(digest);
  made.take([{ ...digest, text: "other" }]);
  assert.deepEqual(kept, [[digest]]);
  assert.deepEqual(swapped(made, ...branch(result("c1", "raw"))), ["digest `t1`"]);
});

test("a restart has what was kept", () => {
  const { condensing: made, kept } = condensing();
  made.restore(
    tree(
      branch(custom("afterturn-condensed", { replacements: [digest, { text: 1 }] }), custom("afterturn-condensed", 7)),
    ),
  );
  made.take([digest]);
  assert.deepEqual(kept, []);
  assert.deepEqual(swapped(made, ...branch(result("c1", "raw"))), ["digest `t1`"]);
});

test("what was kept on another branch is known on this one", () => {
  const { condensing: made } = condensing();
  made.restore(tree(branch(result("c1", "raw")), ...branch(custom("afterturn-condensed", { replacements: [digest] }))));
  assert.deepEqual(swapped(made, ...branch(result("c1", "raw"))), ["digest `t1`"]);
});

test("a pi that knows no edits shows the original of one, so that it is swapped", () => {
  const older = new Condensing(() => {}, false);
  older.take([digest]);
  const entries = branch(result("c1", "raw"), edit("e1", "digest `t1`"));
  older.restore(tree(entries));
  assert.deepEqual(swapped(older, ...entries), ["digest `t1`"]);
});

test("results that cannot be told apart are left as they are", () => {
  const { condensing: made } = condensing({ toolCallId: "", resultTimestamp: 3, text: "digest `t1`" });
  assert.deepEqual(swapped(made, ...branch(result("", "one"), result("", "two"))), ["one", "two"]);
});

for (const text of ["", null, undefined, 9, { text: "x" }]) {
  test(`${JSON.stringify(text)} takes the place of nothing`, () => {
    const item = { index: 0, toolCallId: "c1", resultTimestamp: 3, turnIndex: 0, shortId: "t1", state: "condensed" };
    const { condensing: made, kept } = condensing(...fromItems([{ ...item, replacement: text as string }]));
    assert.deepEqual(kept, []);
    assert.deepEqual(swapped(made, ...branch(result("c1", "raw"))), ["raw"]);
  });
}

test("savings are counted in chars, of results that were replaced", () => {
  const { condensing: made } = condensing(digest);
  made.restore(tree(branch(result("c1", "x".repeat(100)), result("c2", "y"))));
  assert.deepEqual(made.savings, { before: 100, after: 11 });
});
