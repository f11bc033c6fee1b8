import type { Trace } from "../protocol.js";
import { ago, counted, head } from "../wording.js";

/** Chars of a tooltip's text. */
const TOOLTIP = 400;

/** The traces of one finished piece of work, in step order. */
export interface Episode {
  episodeId: string;
  steps: readonly Trace[];
}

/**
 * Traces, the newest episode first, as episodes. Pages can cut one in two, so that its parts are joined; and can come
 * twice, where somebody asks for one before it is there.
 */
export function episodesOf(traces: readonly Trace[]): Episode[] {
  const byId = new Map<string, Trace[]>();
  const seen = new Set<string>();
  for (const trace of traces) {
    if (trace.superseded || seen.has(trace.traceId)) continue;
    seen.add(trace.traceId);
    const steps = byId.get(trace.episodeId);
    if (steps === undefined) byId.set(trace.episodeId, [trace]);
    else steps.push(trace);
  }
  return [...byId].map(([episodeId, steps]) => ({
    episodeId,
    steps: steps.sort((a, b) => a.stepIndex - b.stepIndex),
  }));
}

/** What a line of the tree says. The side bar is narrow: what comes first is seen. */
export interface Line {
  label: string;
  description: string;
  tooltip: string;
  icon: string;
}

/** An episode: when it ended, and what was asked. */
export function episodeLine({ steps }: Episode, now: number): Line {
  const asked = steps.find(({ userText }) => userText.trim() !== "")?.userText ?? "(no request)";
  const last = Math.max(0, ...steps.map(({ ts }) => ts));
  const tooltip = `${head(asked, TOOLTIP)}\n\n${counted(steps.length, "step")}, ${ago(last, now)}`;
  return { label: head(asked), description: ago(last, now), tooltip, icon: "checklist" };
}

/** A step: α, the weight of its reflection, and what was said or done. */
export function traceLine(trace: Trace): Line {
  const tooltip = head(trace.reflection.text ?? trace.agentText, TOOLTIP) || title(trace);
  return { label: alpha(trace), description: title(trace), tooltip, icon: icon(trace) };
}

/** What a step did, in a few words. */
export function title({ agentText, toolCalls, userText }: Trace): string {
  const tools = [...new Set(toolCalls.map(({ name }) => name))].join(", ");
  return head(agentText) || tools || head(userText) || "(nothing said)";
}

/** "α 0.62" */
export function alpha({ reflection }: Trace): string {
  return `α ${reflection.alpha.toFixed(2)}`;
}

function icon({ errorSignatures, reflection }: Trace): string {
  if (errorSignatures.length > 0) return "warning";
  return reflection.usable ? "lightbulb" : "circle-outline";
}
