/** The package as npm would publish it, and those who use it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { compile } from "./compiler.js";
import { PACKAGE, REPOSITORY, SERVER, temporaryFolder } from "./places.js";

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(path.join(PACKAGE, "package.json"), "utf8"));

/** Where the package lies as it would be installed, and what it holds. */
let installed: string;
let files: string[] = [];

before(async () => {
  installed = temporaryFolder();
  // Scripts are for whoever publishes; the build that is tested is the one that lies here.
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", installed];
  const { stdout } = await run("npm", args, { cwd: PACKAGE });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  files = packed.files.map((file) => file.path);
  await run("tar", ["-xzf", packed.filename], { cwd: installed });
});

/** A project that has the package, and this file. */
function project(name: string, source: string): string {
  const folder = temporaryFolder();
  const scope = path.join(folder, "node_modules/@afterturn");
  mkdirSync(scope, { recursive: true });
  cpSync(path.join(installed, "package"), path.join(scope, "client"), { recursive: true });
  writeFileSync(path.join(folder, name), source);
  return folder;
}

async function runNode(name: string, source: string): Promise<string> {
  const folder = project(name, source);
  const env = { ...process.env, AFTERTURN_PATH: SERVER, AFTERTURN_HOME: path.join(folder, "home") };
  const { stdout, stderr } = await run(process.execPath, [name], { cwd: folder, env, timeout: 60_000 });
  assert.equal(stderr, "");
  return stdout;
}

test("the package holds its manifest, README, licence and both builds", () => {
  const outside = files.filter((file) => !file.startsWith("dist/"));
  assert.deepEqual(outside.sort(), ["LICENSE", "README.md", "package.json"]);
  for (const format of ["esm", "cjs"]) {
    const names = files.filter((file) => file.startsWith(`dist/${format}/`)).map((file) => path.basename(file));
    const modules = names.filter((name) => name.endsWith(".js")).map((name) => name.slice(0, -3));
    assert.ok(modules.includes("index") && modules.includes("protocol"));
    const expected = modules.flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
    assert.deepEqual(names.sort(), [...expected, ...(format === "cjs" ? ["package.json"] : [])].sort());
  }
});

test("no file of it points to one that is not there", () => {
  for (const file of files.filter((name) => name.startsWith("dist/"))) {
    const text = readFileSync(path.join(PACKAGE, file), "utf8");
    assert.doesNotMatch(text, /sourceMappingURL/);
    for (const [, target] of text.matchAll(/(?:from |require\()"(\.[^"]+)"/g)) {
      const name = path.join(path.dirname(file), target as string);
      assert.ok(files.includes(name), `${file} points to ${name}`);
    }
  }
});

test("it has no dependencies and runs nothing when it is installed", () => {
  assert.deepEqual(manifest.dependencies ?? {}, {});
  assert.deepEqual(
    Object.keys(manifest.scripts).filter((name) => /install|prepare/.test(name)),
    [],
  );
});

test("its version is the server's", () => {
  const server = readFileSync(path.join(REPOSITORY, "pyproject.toml"), "utf8").match(/^version = "(.*)"$/m)?.[1];
  assert.equal(manifest.version, server);
});

test("the example of the README runs", async () => {
  const example = readFileSync(path.join(PACKAGE, "README.md"), "utf8").match(/```js\n([^]*?)```/)?.[1] ?? "";
  const lines = example.split("\n").filter((line) => line.trim() !== "");
  assert.ok(lines.length > 5 && lines.length <= 15, `${lines.length} lines`);
  const out = await runNode("example.mjs", example);
  assert.match(out, /1 failed, 100 passed/);
  assert.match(out, /\ntrue\n$/);
});

const USE = `Afterturn.start()
  .then(async (client) => {
    const failing = await client.capture.retry({ jobId: "none" }).catch((error) => error);
    console.log(failing instanceof AfterturnError, failing instanceof ResponseError, failing.kind);
    console.log((await client.close()).exitCode);
  });`;

for (const [name, head] of [
  ["app.mjs", 'import { Afterturn, AfterturnError, ResponseError } from "@afterturn/client";'],
  ["app.cjs", 'const { Afterturn, AfterturnError, ResponseError } = require("@afterturn/client");'],
] as const) {
  test(`${name} uses it`, async () => {
    assert.equal(await runNode(name, `${head}\n${USE}`), "true true unknown_job\n0\n");
  });
}

const TYPED = `import { Afterturn, type CondenseResult, ResponseError } from "@afterturn/client";
export async function use(): Promise<string | null | undefined> {
  const client = await Afterturn.start({
    handlers: { "sampling/createMessage": async ({ purpose }) => ({ text: purpose, stopReason: "stop", model: "m" }) },
    on: { "recap.ready": ({ text }) => text.trim() },
  });
  const stop: () => void = client.on("capture.done", ({ seq }) => seq + 1);
  const batch = { turnIndex: 0, timestamp: 0, toolCalls: [] };
  const result: CondenseResult = await client.condense.summarize({ sessionId: "s", batch });
  // @ts-expect-error: no such event
  client.on("capture.finished", stop);
  // @ts-expect-error: a session has an id
  await client.session.open({});
  const error: unknown = await client.afterturn.status().catch((reason: unknown) => reason);
  return error instanceof ResponseError ? error.kind : result.items[0]?.replacement;
}
`;

for (const name of ["app.mts", "app.cts"]) {
  test(`${name} gets its types`, async () => {
    const folder = project(name, TYPED);
    for (const types of ["@types", "undici-types"]) {
      symlinkSync(path.join(PACKAGE, "node_modules", types), path.join(folder, "node_modules", types));
    }
    await compile(path.join(folder, name));
  });
}
