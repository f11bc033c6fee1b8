import type { EventName, EventParams } from "./events.js";
import type { ServerRequests } from "./methods.js";
import type { ClientInfo, RecapCapability, Settings } from "./protocol.js";

/** Answers a request from the server. Its signal is aborted when the server no longer wants the answer. */
export type Handler<M extends keyof ServerRequests> = (
  params: ServerRequests[M]["params"],
  context: { signal: AbortSignal },
) => ServerRequests[M]["result"] | Promise<ServerRequests[M]["result"]>;

/** Handlers by method. Having one is what declares its capability to the server. */
export type Handlers = { [M in keyof ServerRequests]?: Handler<M> };

/** Listeners by event. */
export type Listeners = { [E in EventName]?: (params: EventParams<E>) => void };

export interface StartOptions {
  /** The executable. Omitted: AFTERTURN_PATH, then PATH, then a venv in `cwd`, then uvx or pipx. */
  command?: string;
  /** Arguments for it, before `--stdio`. */
  args?: readonly string[];
  /** Variables for the server, over the safe ones that are passed on; undefined takes one away. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The folder the server runs in. Given and without `command`, a venv in it is a place to look. */
  cwd?: string;
  settings?: Settings;
  /** What the host can do besides answering requests. */
  capabilities?: { recap?: RecapCapability };
  handlers?: Handlers;
  /** Listeners that are there from the first message on. */
  on?: Listeners;
  /** Who the host is, for the server's log. */
  clientInfo?: ClientInfo;
  /**
   * Aborting it ends the start: what was started is ended, with SIGKILL in the end, and the start is rejected with
   * CancelledError. Once the client is there it has no effect.
   */
  signal?: AbortSignal;
  /** How long a call, and the start itself, waits unless it says otherwise, in ms. Default: 60 000. */
  timeoutMs?: number;
  /**
   * True: nothing of the client but a plain `close()` keeps the Node process alive, not even the start or a call that
   * waits. Omitted or false: what waits does, so that a script can await it; an idle client does not.
   */
  background?: boolean;
  /** True: a server that ends by itself is started again, after a delay. What it had not answered is rejected. */
  restart?: boolean;
}
