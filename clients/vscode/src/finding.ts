import { findServer, type Places } from "../../typescript/src/find.js";
import { NotFoundError } from "../../typescript/src/errors.js";

/** What the person and the window say about where the server is. */
export interface Wishes {
  /** The setting `afterturn.command`; "" where it is not set. */
  setting: string;
  /** The first workspace folder, whose venv may hold the server. */
  folder: string | undefined;
}

/** There is no server to start. The message says what to type. */
export class ServerMissing extends Error {}

const HOW_TO_INSTALL =
  "Type `pipx install afterturn` or `uv tool install afterturn` in a terminal, " +
  "or put the path of the executable into the setting afterturn.command.";

/**
 * The executable: the setting, AFTERTURN_PATH, PATH, a venv in the workspace. Nothing is downloaded to start it.
 * Throws ServerMissing. A place that somebody named is the only one: another version would be a surprise.
 */
export async function findExecutable(wishes: Wishes, places: Places): Promise<string> {
  for (const [named, by] of [
    [wishes.setting, "The setting afterturn.command"],
    [places.env["AFTERTURN_PATH"], "The variable AFTERTURN_PATH"],
  ] as const) {
    if (!named) continue;
    if (await places.isExecutable(named)) return named;
    throw new ServerMissing(`${by} says ${named}, which is no executable file. ${HOW_TO_INSTALL}`);
  }
  for (const { from, command } of await candidates(wishes.folder, places)) {
    if ((from === "PATH" || from === "venv") && command[0] !== undefined) return command[0];
  }
  const venv = wishes.folder === undefined ? "" : ` or in a venv of ${wishes.folder}`;
  throw new ServerMissing(`afterturn was not found on PATH${venv}. ${HOW_TO_INSTALL}`);
}

async function candidates(folder: string | undefined, places: Places) {
  try {
    return await findServer(folder === undefined ? {} : { cwd: folder }, places);
  } catch (problem) {
    if (problem instanceof NotFoundError) return [];
    throw problem;
  }
}
