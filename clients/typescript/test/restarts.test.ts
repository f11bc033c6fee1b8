import assert from "node:assert/strict";
import { test } from "node:test";
import { restartDelayMs } from "../src/restarts.js";

const CASES: [name: string, endedAt: number[], now: number, delayMs: number | null][] = [
  ["the first end", [1000], 1000, 250],
  ["the second", [0, 1000], 1000, 500],
  ["the fourth", [0, 1, 2, 3], 3, 2000],
  ["the fifth gives up", [0, 1, 2, 3, 4], 4, null],
  ["ends long ago do not count", [0, 1, 2, 3, 200_000], 200_000, 250],
];

for (const [name, endedAt, now, delayMs] of CASES) {
  test(`delay after ${name}`, () => assert.equal(restartDelayMs(endedAt, now), delayMs));
}
