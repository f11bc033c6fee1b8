import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";
import { NotFoundError } from "./errors.js";
import type { StartOptions } from "./options.js";
import { VERSION } from "./version.js";

/** One way to start the server: an executable and its first arguments. */
export interface Candidate {
  /** Where it was found, for people. */
  from: string;
  command: readonly string[];
}

/** What finding looks at. */
export interface Places {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  isExecutable: (file: string) => Promise<boolean>;
}

const HOW_TO_INSTALL =
  "Install it with `uv tool install afterturn` or `pipx install afterturn`, " +
  "or give the executable's path in AFTERTURN_PATH or as `command`.";

/**
 * Ways to start the server, best first: `command`; AFTERTURN_PATH; PATH; a venv in `cwd`; uvx or pipx with the version
 * of this package. Where the host or the user names one, it is the only one. Throws NotFoundError.
 *
 * A venv is looked for only where the host says so with `cwd`, and not in the process's own folder: that may be a
 * repository that somebody else wrote.
 */
export async function findServer({ command, cwd }: StartOptions, places: Places): Promise<Candidate[]> {
  if (command !== undefined) return [{ from: "command", command: [command] }];
  const named = places.env["AFTERTURN_PATH"];
  if (named) return [{ from: "AFTERTURN_PATH", command: [named] }];

  const folders = pathFolders(places);
  const venvs = cwd === undefined ? [] : venvFolders(cwd, places.platform);
  const found = [
    await find("PATH", "afterturn", folders, [], places),
    await find("venv", "afterturn", venvs, [], places),
    await find("uvx", "uvx", folders, ["--from", `afterturn==${VERSION}`, "afterturn"], places),
    await find("pipx", "pipx", folders, ["run", "--spec", `afterturn==${VERSION}`, "afterturn"], places),
  ];
  const candidates = found.filter((candidate) => candidate !== undefined);
  if (candidates.length > 0) return candidates;
  const tried = ["AFTERTURN_PATH is not set", ...[...folders, ...venvs].map((folder) => `no afterturn in ${folder}`)];
  throw new NotFoundError(`The afterturn server was not found. ${HOW_TO_INSTALL}`, [...tried, "no uvx", "no pipx"]);
}

async function find(
  from: string,
  name: string,
  folders: string[],
  args: string[],
  places: Places,
): Promise<Candidate | undefined> {
  const file = places.platform === "win32" ? `${name}.exe` : name;
  for (const folder of folders) {
    const full = join(places.platform, folder, file);
    if (await places.isExecutable(full)) return { from, command: [full, ...args] };
  }
  return undefined;
}

/**
 * The folders of PATH, but for relative ones, which mean whatever folder the host is in; and the one where uv and pipx
 * put what they install, because an app that a desktop started lacks it.
 */
function pathFolders({ platform, env }: Places): string[] {
  const isWindows = platform === "win32";
  const { delimiter, isAbsolute } = isWindows ? path.win32 : path.posix;
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(isAbsolute);
  const home = isWindows ? env["USERPROFILE"] : env["HOME"];
  return home ? [...folders, join(platform, home, ".local", "bin")] : folders;
}

function venvFolders(cwd: string, platform: NodeJS.Platform): string[] {
  return [".venv", "venv"].map((name) => join(platform, cwd, name, platform === "win32" ? "Scripts" : "bin"));
}

function join(platform: NodeJS.Platform, ...parts: string[]): string {
  return platform === "win32" ? path.win32.join(...parts) : path.posix.join(...parts);
}

/** Whether there is a file that can be run. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // Whatever is wrong with it, it cannot be run.
    return false;
  }
}
