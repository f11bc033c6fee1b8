import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFrame, FrameReader, FramingError } from "../src/framing.js";

/** The bodies that come out of these chunks. */
function bodiesOf(chunks: readonly (string | Buffer)[]): string[] {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) => [...reader.push(Buffer.from(chunk))]);
}

const READ: [name: string, chunks: (string | Buffer)[], bodies: string[]][] = [
  ["one frame", ["Content-Length: 2\r\n\r\n{}"], ["{}"]],
  ["two in one chunk", ["Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n1"], ["{}", "1"]],
  ["an empty body", ["Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1"], ["", "1"]],
  ["a header in pieces", ["Content-Len", "gth: 1", "2\r", "\n\r", "\n", "[1,2,3,4,56]"], ["[1,2,3,4,56]"]],
  ["a body in pieces", ["Content-Length: 7\r\n\r\n[1", ",2", ",3]"], ["[1,2,3]"]],
  ["length in bytes", ['Content-Length: 7\r\n\r\n"é漢"'], ['"é漢"']],
  [
    "a character in two chunks",
    [Buffer.from('Content-Length: 4\r\n\r\n"\xc3', "latin1"), Buffer.from('\xa9"', "latin1")],
    ['"é"'],
  ],
  ["names in any case, other headers, \\n", ['content-type: x\ncontent-LENGTH:3  \n\n"a"'], ['"a"']],
  ["nothing yet", ["Content-Length: 9\r\n\r\n{"], []],
];

for (const [name, chunks, bodies] of READ) {
  test(`reads ${name}`, () => assert.deepEqual(bodiesOf(chunks), bodies));
}

const REFUSED: [name: string, bytes: string][] = [
  ["a stray line", "hello\n"],
  ["a stray line that has not ended", "hello world"],
  ["no length", "X: 1\r\n\r\n"],
  ["an empty header", "\r\n"],
  ["a length that is none", "Content-Length: many\r\n\r\n"],
  ["a negative length", "Content-Length: -1\r\n\r\n"],
  ["a length nobody means", "Content-Length: 99999999999\r\n\r\n"],
  ["binary", "\x00\x01\x02"],
  ["a line without end", `X: ${"y".repeat(2000)}`],
  ["a body longer than it says", "Content-Length: 2\r\n\r\n{}}"],
];

for (const [name, bytes] of REFUSED) {
  test(`refuses ${name}`, () => assert.throws(() => bodiesOf([bytes]), FramingError));
}

test("gives what came before a mistake", () => {
  const bodies: string[] = [];
  assert.throws(() => {
    for (const body of new FrameReader().push(Buffer.from("Content-Length: 1\r\n\r\n1oops\n"))) bodies.push(body);
  }, FramingError);
  assert.deepEqual(bodies, ["1"]);
});

const TEXTS = ["", "plain", "é漢字🚀", "\ud83d", "\ude00 \ud83d", "\u2028\u0000\r\n", "x".repeat(70_000)];

for (const size of [1, 7, 4096, 1 << 20]) {
  test(`every text comes back, in chunks of ${size} bytes`, () => {
    const bytes = Buffer.concat(TEXTS.map((text) => encodeFrame(JSON.stringify({ text }))));
    const reader = new FrameReader();
    const texts: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      for (const body of reader.push(bytes.subarray(at, at + size)))
        texts.push((JSON.parse(body) as { text: string }).text);
    }
    assert.deepEqual(texts, TEXTS);
  });
}

test("the length counts bytes", () => assert.equal(encodeFrame('"é"').toString(), 'Content-Length: 4\r\n\r\n"é"'));

test("a half surrogate pair travels as its escape", () => {
  assert.equal(encodeFrame(JSON.stringify("a\ud83d")).toString(), 'Content-Length: 9\r\n\r\n"a\\ud83d"');
});
