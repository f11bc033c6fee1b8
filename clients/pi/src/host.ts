/**
 * The part of pi that the extension uses, as the newer and the older line both have it; what only one has is optional.
 *
 * Written down here rather than imported, because the two lines publish it under two package names. The end-to-end
 * tests check that the types of both real packages fit.
 */

export interface Text {
  type: "text";
  text: string;
}

export interface Image {
  type: "image";
  data: string;
  mimeType: string;
}

/** A message of a session, of any role. Files come from many versions of pi, so little of it is taken for granted. */
export interface Message {
  role: string;
  content?: unknown;
  timestamp?: number;
  /** Of an assistant: "stop", "length", "toolUse", "error", "aborted". */
  stopReason?: string;
  /** Of a tool result. */
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
  /** Of a compaction or branch summary. */
  summary?: string;
}

/** An entry of a session file; see pi's "Session File Format". */
export interface Entry {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
  /** type "message" */
  message?: Message;
  /** types "custom" and "custom_message" */
  customType?: string;
  data?: unknown;
  content?: unknown;
  /** type "context_edit": null hides the target from the model. */
  targetId?: string;
  replacement?: { content: unknown } | null;
  /** types "compaction" and "branch_summary" */
  summary?: string;
  firstKeptEntryId?: string | null;
}

export interface Model {
  provider: string;
  id: string;
  api: string;
}

export interface Reply {
  content: unknown;
  stopReason: string;
  errorMessage?: string;
  usage?: { input?: number; output?: number; cacheRead?: number; cost?: { total?: number } };
}

export interface Prompt {
  systemPrompt?: string;
  messages: { role: "user"; content: string; timestamp: number }[];
}

export interface CallOptions {
  maxTokens: number;
  signal: AbortSignal;
  temperature?: number;
  cacheRetention: "none";
  apiKey?: string;
  headers?: Record<string, string | null>;
}

export interface Registry {
  find(provider: string, id: string): Model | undefined;
  getAvailable(): Model[];
  /** Newer line: a call through the configured provider, authenticated there. */
  streamSimple?(model: Model, prompt: Prompt, options: CallOptions): { result(): Promise<Reply> };
  getApiKeyAndHeaders(
    model: Model,
  ): Promise<{ ok: true; apiKey?: string; headers?: Record<string, string | null> } | { ok: false; error: string }>;
}

export interface SessionManager {
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getHeader(): { parentSession?: string; timestamp: string } | null;
  getLeafEntry(): Entry | undefined;
  /** From the root to the leaf. */
  getBranch(): Entry[];
  /** Of all branches. */
  getEntries(): Entry[];
  /** Newer line, the one that knows context edits. */
  buildSessionProjection?(): unknown;
}

export interface UI {
  notify(message: string, type?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, lines: string[] | undefined): void;
}

export interface Context {
  ui: UI;
  /** Newer line. */
  mode?: "tui" | "rpc" | "json" | "print";
  hasUI: boolean;
  cwd: string;
  sessionManager: SessionManager;
  modelRegistry: Registry;
  model: Model | undefined;
  getContextUsage(): { tokens: number | null; contextWindow: number } | undefined;
}

/** What a boundary handler of the newer line may have pi append to the session. */
export interface ContextEdit {
  type: "context_edit";
  targetId: string;
  replacement: { content: string };
}

/** What the newer line adds to `turn_end`, and gives with `agent_before_settle`. */
export interface Boundary {
  entries?: unknown[];
  context?: { contextEntries: { sourceEntry: { id: string } }[] };
}

export interface TurnEnd extends Boundary {
  message: Message;
  toolResults: Message[];
  /** Newer line; in the order of `toolResults`. */
  toolResultEntryIds?: string[];
}

export type StartReason = "startup" | "reload" | "new" | "resume" | "fork";
export type EndReason = "quit" | "reload" | "new" | "resume" | "fork";

export interface Events {
  session_start: { reason: StartReason };
  session_shutdown: { reason: EndReason };
  session_tree: unknown;
  session_compact: unknown;
  model_select: unknown;
  input: { text: string };
  agent_start: unknown;
  turn_start: unknown;
  context: { messages: Message[] };
  message_end: { message: Message };
  turn_end: TurnEnd;
  agent_end: { messages: Message[] };
  /** Newer line. */
  agent_before_settle: Boundary;
  /** Newer line. */
  agent_settled: { aborted: boolean };
}

export interface ToolResult {
  content: (Text | Image)[];
  details: unknown;
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: object;
  execute(id: string, params: never, signal: AbortSignal | undefined): Promise<ToolResult>;
}

export type Flag = { description: string; type: "boolean" } | { description: string; type: "string" };

export interface Pi {
  on<E extends keyof Events>(event: E, handler: (event: Events[E], context: Context) => unknown): unknown;
  registerTool(tool: Tool): void;
  registerCommand(
    name: string,
    command: {
      description: string;
      getArgumentCompletions?(prefix: string): { value: string; label: string }[] | null;
      handler(args: string, context: Context): Promise<void>;
    },
  ): void;
  registerFlag(name: string, flag: Flag): void;
  getFlag(name: string): boolean | string | undefined;
  /** Names of the tools that the model is told of. */
  getActiveTools(): string[];
  appendEntry(customType: string, data: unknown): void;
}
