/** The agent's tool that brings originals back. */
import type * as afterturn from "@afterturn/client";
import type { Image, Tool } from "./host.js";
import type { Sidecar } from "./sidecar.js";

/** The sidecar's `condense.recoveryToolName`; results of a tool of this name are left alone. */
export const RECOVERY_TOOL = "context_tree_query";

const PATIENCE_MS = 10_000;
/** For all records of one answer, in chars. */
const ROOM = 51_200;

interface Params {
  refs: string[];
  offset?: number;
  grep?: string;
}

const PARAMETERS = {
  type: "object",
  required: ["refs"],
  properties: {
    refs: {
      type: "array",
      minItems: 1,
      items: { type: "string" },
      description: 'Refs as they stand in the condensed text, for example ["t12"] or ["t3", "b1"].',
    },
    offset: {
      type: "integer",
      minimum: 0,
      description: "Where to go on in a long original: the next offset that the page before named.",
    },
    grep: {
      type: "string",
      description: "Only lines that hold exactly this text, each with two lines around it.",
    },
  },
};

/** `session`: the running session, if there is one. */
export function recoveryTool(session: () => { id: string; sidecar: Sidecar } | undefined): Tool {
  return {
    name: RECOVERY_TOOL,
    label: "Originals",
    description:
      "Brings back the full, original output of earlier tool calls that were condensed. Condensed text names its " +
      'original by a ref in backticks, such as `t12`; ask for it with {"refs": ["t12"]}. Use it when a detail is ' +
      "missing in the condensed text, rather than running the tool again.",
    parameters: PARAMETERS,
    async execute(_id: string, params: Params, signal: AbortSignal | undefined) {
      const current = session();
      if (!current) throw new Error("No session is running.");
      const result = await current.sidecar.demand((client) =>
        client.condense.resolveRef(
          { sessionId: current.id, ...query(params) },
          { timeoutMs: PATIENCE_MS, ...(signal ? { signal } : {}) },
        ),
      );
      const found = recovered(result, params.grep);
      return { content: [{ type: "text", text: found }, ...images(result)], details: undefined };
    },
  };
}

/** What the agent asks for and nothing else that it may have written; models fill in what they could leave out. */
export function query({ refs, offset, grep }: Params): Omit<afterturn.ResolveRefParams, "sessionId"> {
  const asked = [...new Set(refs)];
  return {
    refs: asked,
    limit: Math.floor(ROOM / asked.length),
    ...(offset ? { offset } : {}),
    // Images are no part of a later page, or of what was found in the text.
    ...(grep ? { grep } : offset ? {} : { imageData: true }),
  };
}

/** `grep`: what was looked for, if anything was. */
export function recovered({ records, missing }: afterturn.ResolveRefResult, grep?: string): string {
  return [...records.map((record) => recordText(record, grep)), ...missing.map(missingText)].join("\n\n");
}

function images({ records }: afterturn.ResolveRefResult): Image[] {
  return records.flatMap((record) =>
    (record.images ?? []).flatMap(({ data, mimeType }): Image[] => (data ? [{ type: "image", data, mimeType }] : [])),
  );
}

function recordText(record: afterturn.RefRecord, grep?: string): string {
  const end = record.offset + Array.from(record.text).length;
  const part = record.offset > 0 || record.nextOffset !== null;
  const head = [
    `\`${record.shortId}\` ${record.toolName}`,
    record.args == null ? "" : JSON.stringify(record.args).slice(0, 200),
    record.isError ? "(failed)" : "",
    part ? `chars ${record.offset}-${end} of ${record.totalChars}` : "",
    record.nextOffset === null ? "" : `(next offset ${record.nextOffset})`,
  ];
  const body = grep && record.totalChars === 0 ? "No line holds that text." : record.text;
  return `${head.filter(Boolean).join(" ")}\n${body}`;
}

function missingText({ ref, reason, known }: afterturn.MissingRef): string {
  return `\`${ref}\` is ${reason}${known ? `; refs here are ${known}` : ""}.`;
}
