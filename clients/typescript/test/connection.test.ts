import assert from "node:assert/strict";
import { test } from "node:test";
import { Call } from "../src/call.js";
import { Connection } from "../src/connection.js";
import { ProtocolError } from "../src/errors.js";
import { Pipe } from "./pipe.js";

const call = (): Call => new Call("recap/get", { sessionId: "s" }, { timeoutMs: 30_000 });

test("a server that does not read is broken, and every call rejected", async () => {
  const broken: ProtocolError[] = [];
  const onBroken = (error: ProtocolError): number => broken.push(error);
  const connection = new Connection(
    new Pipe(),
    { handlers: {}, onEvent: assert.fail, onWarning: assert.fail, onBroken },
    1,
  );
  const calls = [call(), call()];
  for (const each of calls) connection.send(each);
  for (const each of calls) await assert.rejects(each.promise, /has read nothing for 1 ms/);
  assert.equal(broken.length, 1);
  assert.ok(connection.isEnded);
  const later = call();
  connection.send(later);
  await assert.rejects(later.promise, ProtocolError);
});

test("a call that was given up before it left is never sent, nor cancelled there", async () => {
  const pipe = new Pipe();
  const connection = new Connection(pipe, {
    handlers: {},
    onEvent: assert.fail,
    onWarning: assert.fail,
    onBroken: assert.fail,
  });
  const controller = new AbortController();
  const [first, second, third] = [
    call(),
    new Call("recap/now", { sessionId: "s" }, { timeoutMs: 30_000, signal: controller.signal }),
    call(),
  ];
  for (const each of [first, second, third]) connection.send(each);
  controller.abort();
  await assert.rejects(second.promise, { code: "cancelled" });
  for (let i = 0; i < 5; i++) await pipe.take();
  assert.equal(pipe.taken.length, 2);
  assert.doesNotMatch(pipe.taken.join(""), /cancelRequest|recap\/now/);
  connection.end(new ProtocolError("over"));
  await assert.rejects(first.promise);
  await assert.rejects(third.promise);
});
