/** Every scripted conversation of the spec, played from Node against the real server. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { playConversation } from "./conversation.js";
import { SERVER, SPEC, temporaryFolder } from "./places.js";

const FOLDER = path.join(SPEC, "conversations");
const SCRIPTS = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));

for (const name of SCRIPTS) {
  test(`conversation ${name}`, async () => {
    const home = temporaryFolder();
    const env = { ...process.env, AFTERTURN_HOME: path.join(home, "home") };
    await playConversation(readFileSync(path.join(FOLDER, name), "utf8"), (args) => {
      const server = spawn(SERVER, ["--stdio", ...args], { env });
      server.stderr.resume();
      return server;
    });
  });
}

test("there are conversations", () => assert.ok(SCRIPTS.length >= 20));
