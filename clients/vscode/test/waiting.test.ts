import assert from "node:assert/strict";
import { test } from "node:test";
import type { Recap } from "../src/protocol.js";
import { WaitingRecap } from "../src/waiting.js";

function recap(recapId: string): Recap {
  const fixed = {
    sessionId: "s1",
    text: "You fix it.",
    model: null,
    trigger: "away",
    origin: "facts",
    contextHash: "",
  };
  return { ...fixed, recapId, createdAt: 0, save: false, usage: null };
}

test("a recap is taken once, and stays until it is cleared", () => {
  const waiting = new WaitingRecap();
  assert.equal(waiting.take(), undefined);
  waiting.arrived(recap("r1"));
  assert.equal(waiting.take()?.recapId, "r1");
  assert.equal(waiting.take(), undefined);
  assert.equal(waiting.recap?.recapId, "r1");
  assert.equal(waiting.cleared("r1"), true);
  assert.equal(waiting.recap, undefined);
  assert.equal(waiting.cleared("r1"), false);
});

test("a newer recap takes the place of one that nobody saw, and the older one's end does not end it", () => {
  const waiting = new WaitingRecap();
  waiting.arrived(recap("r1"));
  waiting.arrived(recap("r2"));
  assert.equal(waiting.cleared("r1"), false);
  assert.equal(waiting.take()?.recapId, "r2");
});

test("a recap that was cleared before the person came is not shown", () => {
  const waiting = new WaitingRecap();
  waiting.arrived(recap("r1"));
  waiting.cleared("r1");
  assert.equal(waiting.take(), undefined);
});
