/** The generated types: up to date, and right for the spec's golden vectors. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { compile } from "./compiler.js";
import { PACKAGE, SPEC } from "./places.js";

const VALID = path.join(SPEC, "vectors/valid");
const TYPES = readdirSync(VALID);

test("what is committed is what the spec gives", () => {
  execFileSync(process.execPath, [path.join(PACKAGE, "scripts/generate.js"), "--check"]);
});

test("every valid vector fits its type", async () => {
  const lines = ['import type * as t from "../../src/index.js";'];
  for (const type of TYPES) {
    for (const name of ["full", "minimal", "unicode", "text", "image", "unknown-type"]) {
      const file = path.join(VALID, type, `${name}.json`);
      if (existsSync(file))
        lines.push(`export const ${type}${lines.length}: t.${type} = ${readFileSync(file, "utf8")};`);
    }
  }
  assert.ok(lines.length > 2 * TYPES.length - 20, `${lines.length} vectors of ${TYPES.length} types`);
  // Beside the tests, where the types can be found.
  const file = path.join(PACKAGE, "dist/test/vectors.ts");
  writeFileSync(file, lines.join("\n"));
  await compile(file);
});

test("a text with half a surrogate pair is read and written as it was", () => {
  for (const type of TYPES) {
    const file = path.join(VALID, type, "lone-surrogate.json");
    if (!existsSync(file)) continue;
    const text = readFileSync(file, "utf8");
    const escapes = (json: string): string[] => json.match(/\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g) ?? [];
    assert.deepEqual(escapes(JSON.stringify(JSON.parse(text))), escapes(text), type);
  }
});
