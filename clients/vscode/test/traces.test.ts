import assert from "node:assert/strict";
import { test } from "node:test";
import type { Trace } from "../src/protocol.js";
import { episodeLine, episodesOf, title, traceLine } from "../src/traces/episodes.js";
import { tracePage } from "../src/traces/page.js";
import { trace } from "./trace.js";

test("traces become episodes in the order of their newest, steps in theirs, superseded ones left out", () => {
  const traces = [
    trace({ traceId: "b1", episodeId: "b", stepIndex: 1 }),
    trace({ traceId: "b0", episodeId: "b", stepIndex: 0 }),
    trace({ traceId: "a0", episodeId: "a", stepIndex: 0 }),
    trace({ traceId: "b2", episodeId: "b", stepIndex: 2 }),
    trace({ traceId: "c0", episodeId: "c", superseded: true }),
  ];
  const found = episodesOf(traces).map(({ episodeId, steps }) => [
    episodeId,
    ...steps.map(({ stepIndex }) => stepIndex),
  ]);
  assert.deepEqual(found, [
    ["b", 0, 1, 2],
    ["a", 0],
  ]);
});

test("a page of traces that came twice is there once", () => {
  const page = [trace({ traceId: "b0", episodeId: "b" }), trace({ traceId: "a0", episodeId: "a" })];
  const ids = episodesOf([...page, ...page]).map(({ steps }) => steps.map(({ traceId }) => traceId));
  assert.deepEqual(ids, [["b0"], ["a0"]]);
});

test("an episode's line says what was asked, and when its last step was", () => {
  const steps = [trace({ userText: " ", ts: 0 }), trace({ userText: "Fix\nit", ts: 60_000 })];
  assert.deepEqual(episodeLine({ episodeId: "e", steps }, 180_000), {
    label: "Fix it",
    description: "2 min ago",
    tooltip: "Fix it\n\n2 steps, 2 min ago",
    icon: "checklist",
  });
});

const usable = { text: "Because.", alpha: 0.625, usable: true, source: "adapter" };

const LINES: Record<string, [Partial<Trace>, ReturnType<typeof traceLine>]> = {
  "a step that can be learned from": [
    { agentText: "Done.", reflection: usable },
    { label: "α 0.63", description: "Done.", tooltip: "Because.", icon: "lightbulb" },
  ],
  "one without a reflection": [
    { agentText: "Done." },
    { label: "α 0.00", description: "Done.", tooltip: "Done.", icon: "circle-outline" },
  ],
  "one with an error": [
    { agentText: "Hm.", errorSignatures: ["TypeError"], reflection: usable },
    { label: "α 0.63", description: "Hm.", tooltip: "Because.", icon: "warning" },
  ],
};

for (const [name, [fields, expected]] of Object.entries(LINES)) {
  test(`a trace's line: ${name}`, () => assert.deepEqual(traceLine(trace(fields)), expected));
}

const bash = { name: "bash", input: {}, output: "" };
const TITLES: [Partial<Trace>, string][] = [
  [{ agentText: "Said.", userText: "Asked.", toolCalls: [bash] }, "Said."],
  [{ userText: "Asked.", toolCalls: [bash, { ...bash, name: "edit" }, bash] }, "bash, edit"],
  [{ userText: "Asked." }, "Asked."],
  [{}, "(nothing said)"],
];

for (const [fields, expected] of TITLES) {
  test(`a trace's title: ${expected}`, () => assert.equal(title(trace(fields)), expected));
}

test("a trace's page holds all of it, and output cannot leave its fence", () => {
  const page = tracePage(
    trace({
      ts: Date.UTC(2026, 0, 2, 3, 4),
      userText: "Fix it",
      agentText: "Fixed.",
      toolCalls: [{ name: "edit", input: { path: "a" }, output: "```\n# not a heading", errorCode: "denied" }],
      reflection: { ...usable, reason: "it says why" },
      tags: ["python", "edit"],
      errorSignatures: ["TypeError"],
      truncated: true,
    }),
  );
  const expected = `# Fixed.

- α 0.63 (it says why)
- step 1 of episode \`e1\`
- session: s1
- 2026-01-02 03:04 UTC
- tags: python, edit
- error: \`TypeError\`
- some of the text was cut

## Request

Fix it

## Answer

Fixed.

## edit (failed: denied)

\`\`\`json
{
  "path": "a"
}
\`\`\`

\`\`\`\`
\`\`\`
# not a heading
\`\`\`\`

## Reflection

Because.
`;
  assert.equal(page, expected);
});

test("a trace that holds little has a short page", () => {
  const page = tracePage(trace({ ts: 0, toolCalls: [{ name: "ls", input: null, output: null }] }));
  assert.equal(page, "# ls\n\n- α 0.00\n- step 1 of episode `e1`\n- session: s1\n- 1970-01-01 00:00 UTC\n\n## ls\n");
});

test("a session's id with blanks stands in quotes, as the server reads it", () => {
  assert.match(tracePage(trace({ sessionId: "my session" })), /^- session: "my session"$/mu);
  assert.match(tracePage(trace({ sessionId: 'my "old" one' })), /^- session: 'my "old" one'$/mu);
  assert.match(tracePage(trace({ sessionId: "bob's" })), /^- session: bob's$/mu);
});
