import assert from "node:assert/strict";
import { test } from "node:test";
import { type Afterturn, ResponseError, SendError } from "@afterturn/client";
import { type Piece, piecesOf } from "../src/capture.js";
import { Capturing } from "../src/capturing.js";
import type { Entry } from "../src/host.js";
import type { Sidecar } from "../src/sidecar.js";
import { assistant, branch, custom, tree, user } from "./entries.js";

const ONE = [user("a"), assistant("b")];
const TWO = [...ONE, user("c"), assistant("d")];

const LARGE = new SendError("m", "too_large", "");
const code = (number: number, kind = ""): ResponseError => new ResponseError("m", "", number, { kind });

/** A session on a branch that may grow, and a sidecar that takes a piece, or does not, when it is told to. */
class Scene {
  readonly sent: string[] = [];
  readonly refused: string[] = [];
  readonly capturing: Capturing;
  entries: Partial<Entry>[] = [];
  readonly #marks: Entry[] = [];
  readonly #answers: ((failure: Error | null) => void)[] = [];

  constructor() {
    const episodeFinalized = (): Promise<object> =>
      new Promise((resolve, reject) =>
        this.#answers.push((failure) => (failure ? reject(failure) : resolve({}))),
      );
    const client = { capture: { episodeFinalized } } as unknown as Afterturn;
    const sidecar = {
      ask: (call: (client: Afterturn) => Promise<unknown>) => call(client).catch(() => undefined),
    };
    const next = (here: Entry[]): Piece[] => piecesOf(tree(here, ...this.#marks), "s");
    this.capturing = new Capturing(
      "/",
      sidecar as unknown as Sidecar,
      () => branch(...this.entries),
      next,
      ({ upTo }) => this.#mark(this.sent, upTo),
      ({ upTo }) => this.#mark(this.refused, upTo),
    );
  }

  #mark(which: string[], upTo: string): void {
    which.push(upTo);
    this.#marks.push({ ...branch(custom("afterturn-captured", { upTo }))[0], id: `m${upTo}` } as Entry);
  }

  settle(...entries: Partial<Entry>[]): Promise<void> {
    this.entries = entries;
    this.capturing.capture();
    return new Promise(setImmediate);
  }

  /** Answer what was asked, null where it is taken, and let what follows from it happen. */
  async answer(...failures: (Error | null)[]): Promise<void> {
    for (const each of failures) {
      this.#answers.shift()?.(each);
      await new Promise(setImmediate);
    }
  }
}

test("what begins while a piece is under way is no part of the next one", async () => {
  const scene = new Scene();
  await scene.settle(...ONE);
  await scene.settle(...TWO);
  scene.entries = [...TWO, user("e"), assistant("", {}, ["c1", "bash"])];
  await scene.answer(null, null, null);
  assert.deepEqual(scene.sent, ["e2", "e4"]);
});

for (const [name, failure, refused] of [
  ["params that are wrong", code(-32602), ["e2"]],
  ["a bug there", code(-32603, "internal"), ["e2"]],
  ["too much for one message", LARGE, ["e2"]],
  ["a queue that is full", code(-32803, "busy"), []],
  ["a store that cannot be written", code(-32803, "store_unavailable"), []],
  ["a sidecar that does not read", new SendError("m", "busy", ""), []],
  ["one that has ended", new Error("gone"), []],
] as const) {
  test(`what is refused for good holds up nothing; what is not is sent again: ${name}`, async () => {
    const scene = new Scene();
    await scene.settle(...ONE);
    await scene.answer(failure);
    await scene.settle(...TWO);
    await scene.answer(null, null);
    assert.deepEqual([scene.refused, scene.sent], [refused, refused.length ? ["e4"] : ["e2", "e4"]]);
  });
}

test("a piece without an answer is sent again as it was, before what followed it", async () => {
  const scene = new Scene();
  await scene.settle(...ONE);
  await scene.answer(new Error("no answer"));
  assert.equal(scene.capturing.unsure?.upTo, "e2");
  await scene.settle(...TWO);
  await scene.answer(null, null);
  assert.deepEqual(scene.sent, ["e2", "e4"]);
  assert.equal(scene.capturing.unsure, undefined);
});
