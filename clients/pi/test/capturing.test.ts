import assert from "node:assert/strict";
import { test } from "node:test";
import { type Piece, piecesOf } from "../src/capture.js";
import { Capturing } from "../src/capturing.js";
import type { Entry } from "../src/host.js";
import type { Sidecar } from "../src/sidecar.js";
import { assistant, branch, custom, tree, user } from "./entries.js";

const ONE = [user("a"), assistant("b")];
const TWO = [...ONE, user("c"), assistant("d")];

/** A session on a branch that may grow, and a sidecar that takes a piece, or does not answer, when it is told to. */
class Scene {
  readonly sent: string[] = [];
  readonly capturing: Capturing;
  entries: Partial<Entry>[] = [];
  readonly #marks: Entry[] = [];
  readonly #answers: ((taken: boolean) => void)[] = [];

  constructor() {
    const sidecar = { ask: () => new Promise((resolve) => this.#answers.push((taken) => resolve(taken || undefined))) };
    const next = (here: Entry[]): Piece[] => piecesOf(tree(here, ...this.#marks), "s");
    this.capturing = new Capturing(
      "/",
      sidecar as unknown as Sidecar,
      () => branch(...this.entries),
      next,
      ({ upTo }) => {
        this.sent.push(upTo);
        this.#marks.push({ ...branch(custom("afterturn-captured", { upTo }))[0], id: `m${upTo}` } as Entry);
      },
    );
  }

  settle(...entries: Partial<Entry>[]): Promise<void> {
    this.entries = entries;
    this.capturing.capture();
    return new Promise(setImmediate);
  }

  /** Answer what was asked, and let what follows from it happen. */
  async answer(...taken: boolean[]): Promise<void> {
    for (const each of taken) {
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
  await scene.answer(true, true, true);
  assert.deepEqual(scene.sent, ["e2", "e4"]);
});

test("a piece without an answer is sent again as it was, before what followed it", async () => {
  const scene = new Scene();
  await scene.settle(...ONE);
  await scene.answer(false);
  assert.equal(scene.capturing.unsure?.upTo, "e2");
  await scene.settle(...TWO);
  await scene.answer(true, true);
  assert.deepEqual(scene.sent, ["e2", "e4"]);
  assert.equal(scene.capturing.unsure, undefined);
});
