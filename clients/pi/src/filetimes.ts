/**
 * Writing to a session file without touching its times: `pi -c` opens the file that was changed last, and a recap that
 * is saved is no work (seed session-recap, "Saved recaps").
 */
import { spawnSync } from "node:child_process";
import { type BigIntStats, statSync, utimesSync } from "node:fs";

const TOUCH_PATIENCE_MS = 500;

/**
 * Run `write`, which appends to the file and says how many bytes, then give the file its times back; not if anything
 * else was written meanwhile, and not where there is no file.
 */
export function keepingTimes(file: string | undefined, write: () => number): void {
  const before = file ? stat(file) : undefined;
  const bytes = write();
  if (!file || !before) return;
  const untouched = () => stat(file)?.size === before.size + BigInt(bytes);
  if (!untouched()) return;
  utimesSync(file, Number(before.atimeNs) / 1e9, Number(before.mtimeNs) / 1e9);
  if (process.platform === "win32") return;
  // Node's own call goes through a double, which is 200 ns off.
  for (const [flag, time] of [["-a", before.atimeNs], ["-m", before.mtimeNs]] as const) {
    if (untouched()) touch(flag, time, file);
  }
}

function touch(flag: "-a" | "-m", time: bigint, file: string): void {
  spawnSync("touch", ["-c", flag, "-d", isoTime(time), file], { stdio: "ignore", timeout: TOUCH_PATIENCE_MS });
}

/** Epoch nanoseconds as ISO 8601 in UTC, with all of them. */
export function isoTime(nanoseconds: bigint): string {
  const seconds = nanoseconds / 1_000_000_000n;
  const fraction = String(nanoseconds % 1_000_000_000n).padStart(9, "0");
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}

function stat(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}
