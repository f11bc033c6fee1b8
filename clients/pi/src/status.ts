/** What the session has come to, in pi's status line and in words. */
import type * as afterturn from "@afterturn/client";
import type { Savings } from "./condensing.js";
import { plainLine } from "./plain.js";

const CHARS_PER_TOKEN = 4;
/** Of what `/traces` shows of a text. */
const MAX_LINE = 160;

export interface Standing {
  on: boolean;
  savings: Savings;
  capture?: "capturing" | "captured" | "capture failed";
  /** USD, of the calls whose price is known. */
  spend: number;
}

/** About how many tokens, in three digits. */
export function tokens(chars: number): string {
  const count = Math.round(chars / CHARS_PER_TOKEN);
  if (count < 1000) return String(count);
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

function saved({ before, after }: Savings): string {
  return before > after ? `${tokens(before)} → ${tokens(after)}` : "";
}

function dollars(spend: number): string {
  return spend > 0 ? `$${spend.toFixed(spend < 0.1 ? 4 : 2)}` : "";
}

/** For the status line; undefined while there is nothing to say. */
export function statusLine({ on, savings, capture, spend }: Standing): string | undefined {
  const parts = [saved(savings), capture ?? "", dollars(spend), on ? "" : "off"].filter(Boolean);
  return parts.length ? `afterturn ${parts.join(" · ")}` : undefined;
}

/** `recoverable`: whether the agent has the tool that brings originals back. */
export function statusReport(status: afterturn.StatusResult, standing: Standing, recoverable: boolean): string {
  const places = status.destinations.length ? status.destinations.join(", ") : "nowhere";
  return [
    `afterturn ${status.version}, process ${status.process.pid}, ${standing.on ? "on" : "off"} in this session`,
    `condensed here: ${saved(standing.savings) || "nothing yet"}${saved(standing.savings) && " tokens"}`,
    ...(recoverable ? [] : ["nothing is condensed: the agent is not given the tool context_tree_query"]),
    `capture: ${standing.capture ?? "nothing yet"}`,
    `store: ${status.store.path ?? status.store.backend}`,
    `data may go to: ${places}`,
    ...status.settingsProblems.map(({ path, problem }) => `setting ${path}: ${problem}`),
  ].join("\n");
}

/** That no model is asked any more, and until when. */
export function limitText({ scope, limit, resumesAt }: afterturn.UsageLimit): string {
  const until = resumesAt == null ? "in this session" : `until ${new Date(resumesAt).toISOString().slice(0, 16)} UTC`;
  return `models.${scope} (${limit}) is reached: no model is asked ${until.replace("T", " ")}.`;
}

export function usageReport(usage: afterturn.UsageResult): string {
  const rows = Object.entries(usage.byPurpose).map(([purpose, each]) => `${purpose}: ${usageText(each)}`);
  return [`model calls so far: ${usageText(usage.total)}`, ...rows].join("\n");
}

function usageText({ calls, inputTokens, outputTokens, cost }: afterturn.Usage): string {
  if (!calls) return "none";
  const price = cost === null ? "price unknown" : dollars(cost) || "$0";
  return `${calls}, ${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out, ${price}`;
}

export function hitsReport(hits: afterturn.TraceHit[]): string {
  if (!hits.length) return "No trace of this project fits.";
  return hits.map(({ trace }) => hitText(trace)).join("\n\n");
}

function hitText(trace: afterturn.Trace): string {
  const day = new Date(trace.ts).toISOString().slice(0, 10);
  const lines = [`${day}  ${head(trace.userText)}`, head(trace.agentText), head(trace.reflection.text ?? "")];
  return lines.filter((line) => line.trim()).join("\n  ");
}

function head(text: string): string {
  return plainLine(text, MAX_LINE);
}
