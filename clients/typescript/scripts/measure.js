// What the client costs: a small request over it and over a bare pipe, side by side, and the time to the first answer.
//
//   node scripts/measure.js SERVER     needs `npm run build`; SERVER is the afterturn executable
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Afterturn } from "../dist/esm/index.js";

const [, , server] = process.argv;
const home = mkdtempSync(path.join(tmpdir(), "afterturn-"));
const env = { ...process.env, AFTERTURN_HOME: home };

/** No more than a request needs: one at a time, and what comes back is its answer. */
class Bare {
  #process = spawn(server, ["--stdio"], { env, stdio: ["pipe", "pipe", "ignore"] });

  async ask(id, method, params) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const [chunk] = await once(this.#process.stdout, "data");
    const text = chunk.toString();
    return JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
  }

  async start() {
    await this.ask(0, "initialize", { processId: process.pid, capabilities: {} });
    return this;
  }

  async close() {
    this.#process.stdin.end();
    await once(this.#process, "exit");
  }
}

async function timed(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

function summary(name, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(3);
  console.log(`${name.padEnd(36)} median ${at(0.5)} ms   p95 ${at(0.95)} ms   n ${sorted.length}`);
  return Number(at(0.5));
}

const bare = await new Bare().start();
const client = await Afterturn.start({ command: server, env: { AFTERTURN_HOME: home } });
const params = { sessionId: "measured" };
const times = { bare: [], client: [] };
for (let i = 1; i <= 3000; i++) {
  times.bare.push(await timed(() => bare.ask(i, "recap/get", params)));
  times.client.push(await timed(() => client.recap.get(params)));
}
// The first rounds warm both up.
const added =
  summary("recap/get, client", times.client.slice(500)) - summary("recap/get, bare pipe", times.bare.slice(500));
console.log(`${"added by the client".padEnd(36)} ${added.toFixed(3)} ms`);
await client.close();
await bare.close();

const starts = { bare: [], client: [] };
for (let i = 0; i < 20; i++) {
  starts.bare.push(
    await timed(async () => {
      const each = await new Bare().start();
      await each.ask(1, "recap/get", params);
      each.close();
    }),
  );
  let each;
  starts.client.push(
    await timed(async () => {
      each = await Afterturn.start({ command: server, env: { AFTERTURN_HOME: home } });
      await each.recap.get(params);
    }),
  );
  await each.close();
}
summary("start to first answer, client", starts.client);
summary("start to first answer, bare pipe", starts.bare);
rmSync(home, { recursive: true, force: true });
