/** Whole hosts: Node scripts that use the package as it ships, and what becomes of them and of their server. */
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { inTime } from "./conversation.js";
import { PACKAGE, SERVER, STUB, temporaryFolder } from "./places.js";
import { eventually, isRunning, running } from "./stubbed.js";

const ENTRY = pathToFileURL(path.join(PACKAGE, "dist/esm/index.js")).href;
const START = "const client = await Afterturn.start({ command: process.execPath, args: [STUB, 'well'] });";
/** Not even starting in the background holds a host, so that this one holds itself. */
const IN_BACKGROUND = `const alive = setInterval(() => {}, 1000);
  ${START.replace("}", ", background: true }")} clearInterval(alive);`;

/** Tests that run in the background have SIGINT ignored, and a host of theirs too, until it has had a listener. */
const HEAR_SIGINT = "process.once('SIGINT', () => {}).removeAllListeners('SIGINT');";

/** Starts a host whose script this is. `Afterturn` and STUB are there. */
function startHost(test: TestContext, script: string, env: object = {}): ChildProcessWithoutNullStreams {
  const head = `import { Afterturn } from ${JSON.stringify(ENTRY)}; const STUB = ${JSON.stringify(STUB)};`;
  const args = ["--input-type=module", "-e", `${head} ${HEAR_SIGINT}\n${script}`];
  const host = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: "pipe" });
  test.after(() => host.kill("SIGKILL"));
  return host;
}

/** What the host wrote until it ended, and its code. */
async function runHost(
  host: ChildProcessWithoutNullStreams,
): Promise<{ code: number | null; out: string; err: string }> {
  let [out, err] = ["", ""];
  host.stdout.on("data", (chunk) => (out += chunk));
  host.stderr.on("data", (chunk) => (err += chunk));
  const [code] = (await inTime(once(host, "close"), "the host did not end")) as [number | null];
  return { code, out, err };
}

const HOSTS: [name: string, script: string, out: string][] = [
  ["one that ends with an open client ends at once", START, ""],
  [
    "one that awaits a call gets its answer",
    `${START} console.log(await client.recap.get({ sessionId: "echo" }));`,
    "{ echo: { sessionId: 'echo' } }\n",
  ],
  [
    "one with a call in the background does not wait for it",
    `${START} client.recap.get({ sessionId: "hang" }, { background: true });`,
    "",
  ],
  ["a client in the background holds nothing", `${IN_BACKGROUND} client.recap.get({ sessionId: "hang" });`, ""],
  [
    "a rejection that nobody looks at is no end",
    `${START} client.recap.get({ sessionId: "crash" });
     await client.recap.get({ sessionId: "echo" }).catch((error) => console.log(error.code));`,
    "exited\n",
  ],
  ["one that closes its client", `${START} console.log((await client.close()).exitCode);`, "0\n"],
  [
    "one that closes a server that has to be killed",
    `${START.replace("'well'", "'deaf to SIGTERM'")} console.log((await client.close({ graceMs: 50 })).signal);`,
    "SIGKILL\n",
  ],
  [
    "one whose server does not read closes it and goes",
    `${IN_BACKGROUND}
     await client.recap.get({ sessionId: "stop reading" }, { background: false });
     for (let i = 0; i < 9; i++) client.traces.search({ query: "x".repeat(900_000) });
     client.close({ graceMs: 50 });`,
    "",
  ],
];

for (const [name, script, out] of HOSTS) {
  test(name, async (t) => assert.deepEqual(await runHost(startHost(t, script)), { code: 0, out, err: "" }));
}

const STRANGERS: [name: string, options: string, out: string][] = [
  ["a start that fails", "timeoutMs: 100", "StartError\n"],
  ["a start in the background that the host does not wait for", "background: true", ""],
];

for (const [name, options, out] of STRANGERS) {
  test(`${name} leaves no process, though what was started never looks at its input`, async (t) => {
    const mark = path.basename(temporaryFolder());
    const args = `['-e', 'setInterval(() => {}, 1000)', '--', '${mark}']`;
    const script = `Afterturn.start({ command: process.execPath, args: ${args}, ${options} })
      .catch(({ name }) => console.log(name));`;
    assert.deepEqual(await runHost(startHost(t, script)), { code: 0, out, err: "" });
    await eventually(() => running(mark).length === 0, "no process is left");
  });
}

const GIVEN_UP: [name: string, script: string][] = [
  ["that the host does not wait for", ""],
  ["that the host aborts", "controller.abort();"],
];

for (const [name, script] of GIVEN_UP) {
  test(`a start in the background ${name} leaves no process, though what was started is deaf to SIGTERM`, async (t) => {
    const ready = JSON.stringify(path.join(temporaryFolder(), "ready"));
    const deaf = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
      require('node:fs').writeFileSync(${ready}, '');`;
    const host = `import { existsSync } from "node:fs";
      const controller = new AbortController();
      const args = ["-e", ${JSON.stringify(deaf)}, "--"];
      Afterturn.start({ command: process.execPath, args, background: true, signal: controller.signal })
        .catch(({ name }) => console.log(name));
      const looking = setInterval(() => {
        if (!existsSync(${ready})) return;
        clearInterval(looking);
        ${script}
      }, 20);`;
    assert.deepEqual(await runHost(startHost(t, host)), { code: 0, out: "", err: "" });
    await eventually(() => running(ready.slice(1, -1)).length === 0, "no process is left");
  });
}

test("a host that closes its client in the background goes before the server does", async (t) => {
  const script = `${START.replace("'well'", "'deaf to EOF'")} console.log(client.server.pid);
    client.close({ background: true }).then(() => console.log("closed"));`;
  const { code, out } = await runHost(startHost(t, script));
  assert.equal(code, 0);
  assert.match(out, /^\d+\n$/, "it did not wait until the client was closed");
  if (isRunning(Number(out))) process.kill(Number(out), "SIGKILL");
});

/** A host of the real server that prints its server's pid and lives on. */
const REAL = `const client = await Afterturn.start({ command: ${JSON.stringify(SERVER)} });
  console.log(client.server.pid);`;

for (const signal of ["SIGKILL", "SIGTERM", "SIGINT"] as const) {
  test(`after ${signal} of the host its server ends too`, async (t) => {
    const host = startHost(t, `${REAL} setInterval(() => {}, 1000);`, { AFTERTURN_HOME: temporaryFolder() });
    const [line] = (await inTime(once(host.stdout, "data"), "no server came up")) as [Buffer];
    const pid = Number(line.toString());
    assert.ok(isRunning(pid));
    host.kill(signal);
    await eventually(() => !isRunning(pid), "the server has ended");
  });
}

test("after the end of the host its server ends too", async (t) => {
  const { out } = await runHost(startHost(t, REAL, { AFTERTURN_HOME: temporaryFolder() }));
  await eventually(() => !isRunning(Number(out)), "the server has ended");
});
