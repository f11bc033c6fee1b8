import type { StatusResult } from "./protocol.js";
import { counted, size } from "./wording.js";

/** What the server says of itself, as a Markdown page. */
export function statusPage(status: StatusResult & { sessionId: string | null }): string {
  const { process, store, queue } = status;
  const { inputTokens, outputTokens, calls } = status.usage.today;
  return [
    `# afterturn ${status.version}`,
    list([
      `process ${process.pid}, ${size(process.rssBytes)}`,
      `running for ${counted(Math.round(process.uptimeMs / 1000), "second")}`,
      `protocol ${status.protocolVersion}`,
      status.sessionId === null ? "no session of this folder is known" : `session: ${status.sessionId}`,
    ]),
    "## Store",
    list([
      `${store.backend}${store.path ? ` in \`${store.path}\`` : ""}${bytes(store.bytes)}`,
      ...(store.problem ? [`cannot be used: ${store.problem}`] : []),
      ...(queue.captureJobs > 0 ? [`${counted(queue.captureJobs, "episode")} not captured yet`] : []),
    ]),
    "## Models",
    list(status.providers.map(provider)),
    "## Where data goes",
    status.destinations.length > 0 ? list(status.destinations) : "Nothing leaves this machine.",
    "## Used today",
    `${tokens(inputTokens)} tokens in, ${tokens(outputTokens)} out, ${counted(calls, "call")}.`,
    ...problems(status),
  ]
    .join("\n\n")
    .concat("\n");
}

function provider({ job, provider, model, state, reason }: StatusResult["providers"][number]): string {
  const who = model ? `\`${model}\` by ${provider}` : provider;
  return provider === "none" ? `${job}: no model` : `${job}: ${who}, ${state}${reason ? ` (${reason})` : ""}`;
}

function problems({ settingsProblems }: StatusResult): string[] {
  if (settingsProblems.length === 0) return [];
  return ["## Settings that are not used", list(settingsProblems.map(({ problem }) => problem))];
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function bytes(count: number | null): string {
  return count === null ? "" : `, ${size(count)}`;
}

function tokens(count: number | null): string {
  return count === null ? "unknown" : String(count);
}
