import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { Afterturn, NotFoundError } from "../src/index.js";
import { findServer, isExecutable, type Places } from "../src/find.js";
import { VERSION } from "../src/version.js";
import { temporaryFolder } from "./places.js";

interface Case {
  files?: string[];
  env?: Record<string, string>;
  command?: string;
  cwd?: string;
  platform?: NodeJS.Platform;
  /** Each command found, in one line. */
  found: string[];
}

const UVX = `--from afterturn==${VERSION} afterturn`;
const PIPX = `run --spec afterturn==${VERSION} afterturn`;

const CASES: Record<string, Case> = {
  "the given command, whatever else there is": {
    command: "mine",
    env: { AFTERTURN_PATH: "/p/afterturn", PATH: "/bin" },
    files: ["/bin/afterturn"],
    found: ["mine"],
  },
  "AFTERTURN_PATH before PATH": {
    env: { AFTERTURN_PATH: "/p/afterturn", PATH: "/bin" },
    files: ["/bin/afterturn"],
    found: ["/p/afterturn"],
  },
  "the first on PATH": { env: { PATH: "/a:/b:/c" }, files: ["/b/afterturn", "/c/afterturn"], found: ["/b/afterturn"] },
  "no relative folder of PATH": { env: { PATH: ".:bin::/b" }, files: ["afterturn", "bin/afterturn"], found: [] },
  "where uv and pipx install, without PATH": {
    env: { HOME: "/home/u" },
    files: ["/home/u/.local/bin/afterturn"],
    found: ["/home/u/.local/bin/afterturn"],
  },
  "a venv in the given folder, after PATH": {
    env: { PATH: "/b" },
    cwd: "/p",
    files: ["/b/afterturn", "/p/venv/bin/afterturn", "/p/.venv/bin/afterturn"],
    found: ["/b/afterturn", "/p/.venv/bin/afterturn"],
  },
  "no venv where no folder is given": { env: { PATH: "/b" }, files: [path.resolve(".venv/bin/afterturn")], found: [] },
  "uvx, then pipx, pinned": {
    env: { PATH: "/b" },
    files: ["/b/uvx", "/b/pipx"],
    found: [`/b/uvx ${UVX}`, `/b/pipx ${PIPX}`],
  },
  "a program of Windows": {
    platform: "win32",
    env: { Path: "C:\\a;D:\\b" },
    cwd: "C:\\p",
    files: ["D:\\b\\afterturn.exe", "C:\\p\\.venv\\Scripts\\afterturn.exe", "C:\\a\\uvx.exe"],
    found: ["D:\\b\\afterturn.exe", "C:\\p\\.venv\\Scripts\\afterturn.exe", `C:\\a\\uvx.exe ${UVX}`],
  },
};

for (const [name, { files = [], env = {}, command, cwd, platform = "linux", found }] of Object.entries(CASES)) {
  test(`finds ${name}`, async () => {
    const places: Places = { platform, env, isExecutable: async (file) => files.includes(file) };
    const options = { ...(command !== undefined && { command }), ...(cwd !== undefined && { cwd }) };
    const finding = findServer(options, places);
    if (found.length === 0) await assert.rejects(finding, NotFoundError);
    else
      assert.deepEqual(
        (await finding).map((each) => each.command.join(" ")),
        found,
      );
  });
}

test("says what to type where there is none, and where it has looked", async () => {
  await assert.rejects(
    Afterturn.start({ env: { PATH: "/nowhere", HOME: undefined, AFTERTURN_PATH: undefined } }),
    (error) => {
      assert.ok(error instanceof NotFoundError);
      assert.match(error.message, /`uv tool install afterturn` or `pipx install afterturn`/);
      assert.ok(error.data.tried.includes("no afterturn in /nowhere"));
      return error.code === "not_found";
    },
  );
});

test("goes on where what it finds is no server, and says so in the end", async () => {
  const folder = temporaryFolder();
  for (const name of ["afterturn", "uvx"]) {
    await writeFile(path.join(folder, name), `#!/bin/sh\necho "I am another ${name}" >&2\nexit 5\n`);
    await chmod(path.join(folder, name), 0o755);
  }
  const env = { PATH: folder, HOME: undefined, AFTERTURN_PATH: undefined };
  await assert.rejects(Afterturn.start({ env }), (error) => {
    assert.match((error as Error).message, /another afterturn[^]*another uvx/);
    return true;
  });
});

test("what can be run is an executable file", async () => {
  const folder = temporaryFolder();
  const [file, plain, inner] = ["file", "plain", "inner"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(file, "", { mode: 0o755 });
  await writeFile(plain, "", { mode: 0o644 });
  await mkdir(inner);
  const answers = await Promise.all([file, plain, inner, path.join(folder, "none")].map(isExecutable));
  // Root may run what nobody may, so that only the other three say the same for everybody.
  assert.deepEqual([answers[0], answers[2], answers[3]], [true, false, false]);
});
