import type { Trace } from "../protocol.js";
import { fenced } from "../wording.js";
import { alpha, title } from "./episodes.js";

/** A trace as a Markdown page. */
export function tracePage(trace: Trace): string {
  return [
    `# ${title(trace)}`,
    facts(trace),
    section("Request", trace.userText),
    section("Answer", trace.agentText),
    ...trace.toolCalls.map(call),
    section("Reflection", trace.reflection.text ?? ""),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function facts(trace: Trace): string {
  const { reflection } = trace;
  const lines = [
    `${alpha(trace)}${reflection.reason ? ` (${reflection.reason})` : ""}`,
    `step ${trace.stepIndex + 1} of episode \`${trace.episodeId}\``,
    `session: ${quoted(trace.sessionId)}`, // so written, it says to the server whose refs the page holds
    new Date(trace.ts).toISOString().replace("T", " ").slice(0, 16).concat(" UTC"),
    trace.tags.length > 0 ? `tags: ${trace.tags.join(", ")}` : "",
    ...trace.errorSignatures.map((signature) => `error: \`${signature}\``),
    trace.truncated ? "some of the text was cut" : "",
  ];
  return lines
    .filter((line) => line !== "")
    .map((line) => `- ${line}`)
    .join("\n");
}

/** An id as a session line has it: in quotes that it does not have itself, where it has blanks or is in quotes. */
function quoted(id: string): string {
  const mark = ['"', "'", "`"].find((each) => !id.includes(each)) ?? '"';
  return /\s|^["'`]|["'`]$/u.test(id) ? `${mark}${id}${mark}` : id;
}

function section(name: string, text: string): string {
  return text.trim() === "" ? "" : `## ${name}\n\n${text.trim()}`;
}

function call({ name, input, output, errorCode }: Trace["toolCalls"][number]): string {
  const parts = [`## ${name}${errorCode ? ` (failed: ${errorCode})` : ""}`];
  if (input !== undefined && input !== null) parts.push(fenced(JSON.stringify(input, null, 2), "json"));
  const text = typeof output === "string" ? output : JSON.stringify(output ?? "", null, 2);
  if (text !== "" && text !== '""') parts.push(fenced(text.trimEnd()));
  return parts.join("\n\n");
}
