import assert from "node:assert/strict";
import { test } from "node:test";
import { findExecutable, ServerMissing } from "../src/finding.js";

interface Case {
  setting?: string;
  folder?: string;
  env?: Record<string, string>;
  files?: string[];
  /** The executable, or what the message has to hold. */
  found?: string;
  says?: string;
}

const CASES: Record<string, Case> = {
  "the setting before all": {
    setting: "/s",
    env: { AFTERTURN_PATH: "/e", PATH: "/b" },
    files: ["/s", "/e"],
    found: "/s",
  },
  "AFTERTURN_PATH before PATH": {
    env: { AFTERTURN_PATH: "/e", PATH: "/b" },
    files: ["/e", "/b/afterturn"],
    found: "/e",
  },
  "PATH before the venv": {
    folder: "/w",
    env: { PATH: "/b" },
    files: ["/b/afterturn", "/w/.venv/bin/afterturn"],
    found: "/b/afterturn",
  },
  ".venv of the workspace": {
    folder: "/w",
    env: { PATH: "/b" },
    files: ["/w/.venv/bin/afterturn"],
    found: "/w/.venv/bin/afterturn",
  },
  "venv of the workspace": { folder: "/w", files: ["/w/venv/bin/afterturn"], found: "/w/venv/bin/afterturn" },
  "a setting that leads nowhere is not passed over": {
    setting: "/s",
    env: { PATH: "/b" },
    files: ["/b/afterturn"],
    says: "The setting afterturn.command says /s",
  },
  "nor is an AFTERTURN_PATH": { env: { AFTERTURN_PATH: "/e" }, says: "The variable AFTERTURN_PATH says /e" },
  "nothing is downloaded": { env: { PATH: "/b" }, files: ["/b/uvx", "/b/pipx"], says: "pipx install afterturn" },
  "nothing at all": { folder: "/w", says: "not found on PATH or in a venv of /w" },
};

for (const [name, { setting = "", folder, env = {}, files = [], found, says }] of Object.entries(CASES)) {
  test(`finding the server: ${name}`, async () => {
    const isExecutable = async (file: string): Promise<boolean> => files.includes(file);
    const finding = findExecutable({ setting, folder }, { platform: "linux", env, isExecutable });
    if (says === undefined) assert.equal(await finding, found);
    else await assert.rejects(finding, (problem) => problem instanceof ServerMissing && problem.message.includes(says));
  });
}
