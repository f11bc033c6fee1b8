/**
 * The names of `afterturn:` documents, which are whole originals. On the wire the session's id stands in the path,
 * percent-encoded; VS Code's URIs take "%2F" in a path for "/", so that there the id stands in the query. Pure.
 */

/** The parts of a VS Code URI that name an original. */
export interface Original {
  scheme: "afterturn";
  authority: "original";
  /** Such as `/t12.txt`: what the tab says. */
  path: string;
  /** The session's id. */
  query: string;
}

const ON_THE_WIRE = /^afterturn:\/\/original\/([^/?#]+)(\/[^/?#]+)$/;

/** The original that a URI from the server names; undefined for any other URI. */
export function originalOf(uri: string): Original | undefined {
  const [, sessionId, path] = ON_THE_WIRE.exec(uri) ?? [];
  if (sessionId === undefined || path === undefined) return undefined;
  return { scheme: "afterturn", authority: "original", path, query: decodeURIComponent(sessionId) };
}

/** The URI that the server knows an original by; undefined for the URI of anything else. */
export function wireUri(uri: { scheme: string; path: string; query: string }): string | undefined {
  if (uri.scheme !== "afterturn" || uri.query === "") return undefined;
  return `afterturn://original/${encodeURIComponent(uri.query)}${uri.path}`;
}
