import assert from "node:assert/strict";
import { test } from "node:test";
import { Outbox } from "../src/outbox.js";
import { Pipe } from "./pipe.js";

const NEVER = 2 ** 30;
const frame = (text: string): Buffer => Buffer.from(text);

test("frames wait for their turn, in order", async () => {
  const pipe = new Pipe();
  const outbox = new Outbox(pipe, NEVER, assert.fail);
  for (const text of ["a", "b", "c"]) assert.ok(outbox.push(frame(text)));
  assert.deepEqual(pipe.taken, ["a"]);
  assert.ok(outbox.isBlocked);
  await pipe.take();
  assert.deepEqual(pipe.taken, ["a", "b"]);
  await pipe.take();
  await pipe.take();
  assert.deepEqual(pipe.taken, ["a", "b", "c"]);
  assert.ok(!outbox.isBlocked);
  outbox.clear();
});

test("a frame can be taken back until it has left", async () => {
  const pipe = new Pipe();
  const outbox = new Outbox(pipe, NEVER, assert.fail);
  const [left, waits] = [frame("left"), frame("waits")];
  for (const each of [left, waits, frame("last")]) outbox.push(each);
  assert.ok(!outbox.takeBack(left));
  assert.ok(outbox.takeBack(waits));
  assert.ok(!outbox.takeBack(waits));
  await pipe.take();
  assert.deepEqual(pipe.taken, ["left", "last"]);
  outbox.clear();
});

test("what waits is bounded, and room that is made counts", () => {
  const pipe = new Pipe();
  const outbox = new Outbox(pipe, NEVER, assert.fail);
  const half = Buffer.alloc(33 * 1024 * 1024);
  assert.ok(outbox.push(half));
  assert.ok(outbox.push(half));
  assert.ok(!outbox.push(Buffer.from(half)));
  assert.ok(outbox.push(frame("small")));
  assert.ok(outbox.takeBack(half));
  assert.ok(outbox.push(half));
  outbox.clear();
});

test("a pipe that takes nothing is reported", async () => {
  const alive = setInterval(() => {}, 60_000);
  await new Promise<void>((resolve) => new Outbox(new Pipe(), 1, resolve).push(frame("a")));
  clearInterval(alive);
});

test("nothing is written to a pipe that has been closed", () => {
  const pipe = new Pipe();
  pipe.destroy();
  const outbox = new Outbox(pipe, NEVER, assert.fail);
  assert.ok(outbox.push(frame("a")));
  assert.deepEqual(pipe.taken, []);
});
