/** What pi's messages say, in the words of the protocol. */
import type * as afterturn from "@afterturn/client";
import type { Message } from "./host.js";

/** A part of a message's content. What should be a text and is not counts as "". */
interface Part {
  type: string;
  text: string;
  thinking: string;
  data: string;
  mimeType: string;
  id: string;
  name: string;
  arguments: unknown;
}

const TEXTS = ["type", "text", "thinking", "data", "mimeType", "id", "name"] as const;

function parts(content: unknown): Part[] {
  if (typeof content === "string") return parts([{ type: "text", text: content }]);
  if (!Array.isArray(content)) return [];
  return content.map((part: unknown) => {
    const said = (part ?? {}) as Record<string, unknown>;
    const texts = TEXTS.map((name) => [name, typeof said[name] === "string" ? said[name] : ""]);
    return { ...Object.fromEntries(texts), arguments: said.arguments };
  });
}

/** Its text blocks, joined by a line break. */
export function text(content: unknown): string {
  return parts(content)
    .filter((part) => part.type === "text" && part.text)
    .map((part) => part.text)
    .join("\n");
}

export function thinking(content: unknown): string {
  return parts(content)
    .filter((part) => part.type === "thinking" && part.thinking)
    .map((part) => part.thinking)
    .join("\n");
}

/** The calls of an assistant message, in order. */
export function toolUses(content: unknown): afterturn.ToolUse[] {
  return parts(content)
    .filter((part) => part.type === "toolCall")
    .map((part) => ({ id: part.id, name: part.name, input: part.arguments }));
}

/** Text and images; images with their data only where `data` says so. */
export function blocks(content: unknown, data: boolean): afterturn.Block[] {
  return parts(content).flatMap((part): afterturn.Block[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "image") return [];
    const image = { type: "image" as const, mimeType: part.mimeType, bytes: decodedBytes(part.data) };
    return [data ? { ...image, data: part.data } : image];
  });
}

/** Text and images of a tool's result, and what an extension of pi put there besides, as it came. */
function resultBlocks(content: unknown): afterturn.Block[] {
  if (!Array.isArray(content)) return blocks(content, true);
  return content.flatMap((part: unknown) => {
    const { type } = (part ?? {}) as { type?: unknown };
    const isOther = typeof type === "string" && type !== "text" && type !== "image";
    return isOther ? [part as afterturn.Block] : blocks([part], true);
  });
}

function decodedBytes(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

/** An assistant's message that failed and says nothing: an attempt that a retry replaces. */
export function isFailedAttempt(message: Message): boolean {
  return message.role === "assistant" && message.stopReason === "error" && toolUses(message.content).length === 0;
}

const ROLES = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["toolResult", "tool"],
  ["system", "system"],
]);
const KINDS = new Map([
  ["compactionSummary", "compaction"],
  ["branchSummary", "branchSummary"],
]);

/** A message as a recap's context has it: without thinking and without the data of images. */
export function contextMessage(id: string, message: Message): afterturn.Message {
  const uses = toolUses(message.content);
  return {
    id,
    role: ROLES.get(message.role) ?? "user",
    content: message.summary ?? blocks(message.content, false),
    ...(ROLES.has(message.role) ? {} : { kind: KINDS.get(message.role) ?? "custom" }),
    ...(uses.length ? { toolCalls: uses } : {}),
    ...(message.role === "toolResult" ? toolFields(message) : {}),
    ...(message.stopReason ? { stopReason: message.stopReason } : {}),
    ...(message.timestamp === undefined ? {} : { timestamp: message.timestamp }),
  };
}

function toolFields(message: Message): Pick<afterturn.Message, "toolCallId" | "toolName" | "isError"> {
  return {
    toolCallId: message.toolCallId ?? "",
    toolName: message.toolName ?? "",
    isError: message.isError === true,
  };
}

/** A turn's calls with their results, for condensing. `entryIds`: of the results, in order, where pi tells them. */
export function finishedCalls(assistant: Message, results: Message[], entryIds: string[] = []): afterturn.ToolCall[] {
  const inputs = new Map(toolUses(assistant.content).map((use) => [use.id, use.input]));
  // pi leaves a result out that it does not find: which ids are whose is then unknown, and a wrong one would be edited.
  const known = entryIds.length === results.length;
  return results.map((result, index) => {
    const entryId = known ? entryIds[index] : undefined;
    return {
      ...toolCallOf(result, inputs.get(result.toolCallId ?? "")),
      ...(entryId === undefined ? {} : { entryId }),
    };
  });
}

function toolCallOf(result: Message, args: unknown): afterturn.ToolCall {
  return {
    toolCallId: result.toolCallId ?? "",
    toolName: result.toolName ?? "",
    args,
    content: resultBlocks(result.content),
    isError: result.isError === true,
    ...(result.timestamp === undefined ? {} : { resultTimestamp: result.timestamp }),
  };
}
