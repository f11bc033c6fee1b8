/** Whose session a session file is. */
import { closeSync, openSync, readSync } from "node:fs";

/** More than the first line of a session file takes. */
const HEAD_BYTES = 16_384;

/** The session's id, from the file's first line; undefined where there is no such file, or it is something else. */
export function headerId(file: string): string | undefined {
  try {
    const { type, id } = JSON.parse(head(file)) as { type?: unknown; id?: unknown };
    return type === "session" && typeof id === "string" ? id : undefined;
  } catch {
    // Without it the session has no parent; what it holds itself is there all the same.
    return undefined;
  }
}

function head(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    const text = buffer.toString("utf8", 0, readSync(descriptor, buffer));
    return text.slice(0, text.indexOf("\n"));
  } finally {
    closeSync(descriptor);
  }
}
