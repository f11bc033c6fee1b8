/** Where things are, for tests. They run from dist/test/test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE = fileURLToPath(new URL("../../../", import.meta.url));
export const REPOSITORY = path.resolve(PACKAGE, "../..");
export const SPEC = path.join(REPOSITORY, "spec");
export const SERVER = path.join(REPOSITORY, ".venv/bin/afterturn");
export const STUB = fileURLToPath(new URL("stub.js", import.meta.url));

const folders: string[] = [];

// After all tests of a file: before that a server may still be at work in one of them.
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes with this process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "afterturn-"));
  folders.push(folder);
  return folder;
}
