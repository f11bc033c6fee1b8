import assert from "node:assert/strict";
import { test } from "node:test";
import { originalOf, wireUri } from "../src/originals.js";

const IDS: [encoded: string, sessionId: string][] = [
  ["terminal-1", "terminal-1"],
  ["a%2Fb%20c", "a/b c"],
  ["%25%3F%23%3A%C3%BC", "%?#:ü"],
];

for (const [encoded, sessionId] of IDS) {
  test(`the original of session ${sessionId}, there and back`, () => {
    const uri = `afterturn://original/${encoded}/t12.txt`;
    const original = originalOf(uri);
    assert.deepEqual(original, { scheme: "afterturn", authority: "original", path: "/t12.txt", query: sessionId });
    assert.equal(wireUri(original), uri);
  });
}

for (const uri of ["file:///a/t12.txt", "afterturn://original/t12.txt", "afterturn://original/a/b/t12.txt"]) {
  test(`no original: ${uri}`, () => assert.equal(originalOf(uri), undefined));
}

test("other documents keep their names", () => {
  assert.equal(wireUri({ scheme: "file", path: "/a", query: "" }), undefined);
  assert.equal(wireUri({ scheme: "git", path: "/a", query: "ref" }), undefined);
});
