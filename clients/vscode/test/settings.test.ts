import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { changes, type Places, settingsOf, takesBack, type Tree } from "../src/settings.js";

test("only what somebody set is a setting, and the nearest place wins", () => {
  const said: Record<string, Places> = {
    "condense.minBatchChars": { globalValue: 0 },
    "condense.enabled": {},
    "recap.awaySeconds": { globalValue: 60, workspaceValue: 30, workspaceFolderValue: 10 },
    "recap.auto": { globalValue: true, workspaceValue: false },
    command: { globalValue: "/bin/afterturn" },
  };
  assert.deepEqual(
    settingsOf([...Object.keys(said), "recap.idleSeconds"], (key) => said[key]),
    {
      condense: { minBatchChars: 0 },
      recap: { awaySeconds: 10, auto: false },
    },
  );
});

const BACK: [name: string, before: Tree, after: Tree, is: boolean][] = [
  ["nothing changed", { recap: { auto: false } }, { recap: { auto: false } }, false],
  ["another value", { recap: { auto: false } }, { recap: { auto: true } }, false],
  ["one more", {}, { recap: { auto: true } }, false],
  ["one less", { recap: { auto: false, explain: true } }, { recap: { auto: false } }, true],
  ["a section less", { recap: { auto: false } }, {}, true],
];

for (const [name, before, after, is] of BACK) {
  test(`settings taken back: ${name}`, () => assert.equal(takesBack(before, after), is));
}

const CHANGES: [name: string, before: Tree, after: Tree, changed: Tree][] = [
  ["nothing", { recap: { auto: false } }, { recap: { auto: false } }, {}],
  [
    "a value",
    { recap: { auto: false, explain: true } },
    { recap: { auto: true, explain: true } },
    { recap: { auto: true } },
  ],
  ["a new one", {}, { recap: { auto: false } }, { recap: { auto: false } }],
  ["a list that reads the same", { x: { a: ["b"] } }, { x: { a: ["b"] } }, {}],
  ["a list that does not", { x: { a: ["b"] } }, { x: { a: ["c"] } }, { x: { a: ["c"] } }],
];

for (const [name, before, after, changed] of CHANGES) {
  test(`settings that changed: ${name}`, () => assert.deepEqual(changes(before, after), changed));
}

// What the server's schema says, in the manifest that VS Code reads.
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const properties: Record<string, Record<string, unknown>> = Object.assign(
  {},
  ...manifest.contributes.configuration.map((section: { properties: object }) => section.properties),
);

const MANIFEST: Record<string, Record<string, unknown>> = {
  "afterturn.condense.minBatchChars": { type: "integer", minimum: 0, default: 1000 },
  "afterturn.condense.fallback": { type: "string", default: "extractive", enum: ["extractive", "none"] },
  "afterturn.condense.autoBudgetThreshold": {
    type: ["number", "null"],
    exclusiveMinimum: 0,
    maximum: 1,
    default: null,
  },
  "afterturn.recap.awaySeconds": { type: "number", minimum: 0, maximum: 604800, default: 90 },
  "afterturn.models.apiKeyEnv": { type: ["string", "null"], default: null, scope: "machine" },
  "afterturn.store.retentionDays": { type: "integer", minimum: 1, default: 30, scope: "machine" },
};

for (const [name, expected] of Object.entries(MANIFEST)) {
  test(`the manifest's ${name}`, () => {
    const { order, markdownDescription, ...rest } = properties[name] ?? {};
    assert.deepEqual(rest, expected);
    assert.match(String(markdownDescription), /^(\p{Lu}|")/u);
    assert.equal(typeof order, "number");
  });
}

test("a folder that somebody opens cannot say what to run, where prompts go and what is hidden", () => {
  const guarded = ["command", "models.", "embeddings.", "store.", "redaction."];
  const models = ["afterturn.condense.model", "afterturn.recap.model", "afterturn.capture.model"];
  for (const model of models) assert.ok(model in properties, model);
  for (const [name, { scope }] of Object.entries(properties)) {
    const isGuarded = models.includes(name) || guarded.some((start) => name.startsWith(`afterturn.${start}`));
    assert.equal(scope, isGuarded ? "machine" : undefined, name);
  }
});
