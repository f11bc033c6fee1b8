import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { PACKAGE } from "./places.js";

const TSC = path.join(PACKAGE, "node_modules/typescript/bin/tsc");
const FLAGS = [
  "--strict",
  "--noEmit",
  "--module",
  "nodenext",
  "--target",
  "es2022",
  "--types",
  "node",
  "--ignoreConfig",
];

/** Checks the types of one file as somebody else's project would. Rejects with what is wrong. */
export async function compile(file: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [TSC, ...FLAGS, file], { cwd: path.dirname(file) });
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
}
