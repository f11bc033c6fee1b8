/** Text for people. Pure. */

const LONGEST_HEAD = 80;

/** The first words of a text, in one line. */
export function head(text: string, longest = LONGEST_HEAD): string {
  const line = text.trim().replace(/\s+/gu, " ");
  const chars = [...line.slice(0, 2 * (longest + 1))];
  return chars.length <= longest
    ? line
    : `${chars
        .slice(0, longest - 1)
        .join("")
        .trimEnd()}…`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

/** How long ago, in the few chars that a side bar has: "3 h ago". Both in epoch ms. */
export function ago(then: number, now: number): string {
  for (const [unit, length] of UNITS) {
    const count = Math.floor((now - then) / length);
    if (count > 0) return `${count} ${unit} ago`;
  }
  return "just now";
}

/** "1 step", "2 steps". */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** A size in bytes: "3.4 MB". */
export function size(bytes: number): string {
  if (bytes < 1000) return counted(bytes, "byte");
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A text as a Markdown code block, with a fence that the text cannot close. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Another's words as a message of VS Code, which would make a link, or a command, of `[words](address)`. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** Why there is no recap, by the server's word for it (recap.md). A word this version does not know stands as it is. */
export function reasonWhy(reason: string | null | undefined): string {
  const sentences: Record<string, string> = {
    noSession: "no session of this folder is known",
    noContext: "nothing finished is known of this session",
    empty: "the session has said nothing yet",
    noModel: "there is no model to ask, and recap.fallback is none",
    notGrounded: "the model's words did not fit the session",
    failed: "the model failed",
    cancelled: "it was cancelled",
    changed: "the session went on meanwhile",
  };
  return reason ? (sentences[reason] ?? reason) : "there is nothing to say";
}
