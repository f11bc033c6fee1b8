import { Call, type CallOptions } from "./call.js";
import type { Surroundings } from "./connection.js";
import { environmentFor } from "./environment.js";
import { CancelledError, type Exit, StartError } from "./errors.js";
import { type EventName, type EventParams, Emitter } from "./events.js";
import { type Candidate, findServer, isExecutable } from "./find.js";
import { GRACE_MS, type Launch, Link } from "./link.js";
import {
  CAPABILITIES,
  Methods,
  type Notifications,
  PROTOCOL_VERSION,
  type Requests,
  type ServerRequests,
} from "./methods.js";
import type { StartOptions } from "./options.js";
import type { AfterturnClientCapabilities, InitializeParams, ServerCapabilities, Settings } from "./protocol.js";
import { type Status, Supervisor } from "./supervisor.js";
import { VERSION } from "./version.js";

/** How long a call waits unless it says otherwise, in ms. */
const TIMEOUT_MS = 60_000;

/** The running server, by what it told of itself when it started. */
export interface Server {
  version: string;
  pid: number;
  /** What was started, with its arguments. */
  command: readonly string[];
  capabilities: ServerCapabilities;
}

/**
 * A running sidecar. Calls are grouped by noun: `client.condense.summarize(params, options)`.
 *
 * A call never throws beside its promise and never hangs: it is rejected with an AfterturnError (the tree is in
 * errors.ts). A rejection that nobody looks at does not end the host.
 */
export class Afterturn extends Methods {
  readonly #supervisor: Supervisor;
  #settings: Settings | undefined;

  /** Find the server, start it, shake hands. Rejects with UnavailableError; with CancelledError if told to stop. */
  static async start(options: StartOptions = {}): Promise<Afterturn> {
    const emitter = new Emitter();
    for (const [event, listener] of Object.entries(options.on ?? {})) {
      emitter.add(event, listener as (params: unknown) => void);
    }
    const surroundings = {
      handlers: options.handlers ?? {},
      onEvent: (method: string, params: unknown) => emitter.emit(method, params),
      onWarning: (message: string, error?: unknown) => emitter.warn(message, error),
    };
    const env = { ...process.env, ...options.env };
    const candidates = await findServer(options, { platform: process.platform, env, isExecutable });
    const [launch, link] = await firstThatStarts(candidates, options, surroundings);
    const reopen = (signal: AbortSignal): Promise<Link> =>
      Link.open({ ...launch, background: true, signal }, surroundings);
    return new Afterturn(options, link, options.restart ? reopen : undefined, emitter);
  }

  private constructor(
    private readonly options: StartOptions,
    link: Link,
    reopen: ((signal: AbortSignal) => Promise<Link>) | undefined,
    private readonly emitter: Emitter,
  ) {
    super();
    this.#supervisor = new Supervisor(link, reopen, {
      onExit: (exit, restarting) => emitter.emit("client.exited", { ...exit, restarting }),
      onRestart: (restarts) => {
        if (this.#settings) this.configure(this.#settings);
        emitter.emit("client.restarted", { restarts });
      },
    });
  }

  get status(): Status {
    return this.#supervisor.status;
  }

  /** The process at work, or the last one. */
  get server(): Server {
    const { child, initialized } = this.#supervisor.current;
    const { capabilities, serverInfo } = initialized;
    return { version: serverInfo.version, pid: child.pid, command: child.command, capabilities };
  }

  /** Settles, and never rejects, when the process has ended and none will follow it. */
  get exited(): Promise<Exit> {
    return this.#supervisor.exited;
  }

  /** Any request, by its name. */
  override request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options: CallOptions = {},
  ): Promise<Requests[M]["result"]> {
    const call = new Call(method, params, {
      ...options,
      timeoutMs: options.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS,
      background: options.background ?? this.options.background ?? false,
    });
    this.#supervisor.send(call);
    return call.promise as Promise<Requests[M]["result"]>;
  }

  /** Send what has no answer. It is dropped where no server runs, and never throws. */
  override notify<M extends keyof Notifications>(method: M, params: Notifications[M]): void {
    this.#supervisor.notify(method, params);
  }

  /** Listen to an event of the server or of the client. Returns what ends that. */
  on<E extends EventName>(event: E, listener: (params: EventParams<E>) => void): () => void {
    return this.emitter.add(event, listener as (params: unknown) => void);
  }

  /** Lay these settings over those of the start. They replace the ones laid before, and outlive a restart. */
  configure(settings: Settings): void {
    this.#settings = settings;
    this.notify("workspace/didChangeConfiguration", { settings: { afterturn: settings } });
  }

  /**
   * End the server: ask it, tell it and close its input, then SIGTERM, then SIGKILL, with `graceMs` (2000) between.
   * Never rejects; closing again is closing once. It keeps Node alive until it is done, unless `background` is true:
   * then a host that ends meanwhile leaves the server to the end of its input.
   */
  close({ graceMs = GRACE_MS, background = false }: { graceMs?: number; background?: boolean } = {}): Promise<Exit> {
    return this.#supervisor.close(graceMs, background);
  }
}

/** Try them in order, until one starts or the signal is aborted. Rejects with what was wrong with each. */
async function firstThatStarts(
  candidates: readonly Candidate[],
  options: StartOptions,
  surroundings: Omit<Surroundings, "onBroken">,
): Promise<[Launch, Link]> {
  const problems: StartError[] = [];
  for (const { command } of candidates) {
    if (options.signal?.aborted) break;
    const launch = launchOf(command, options);
    try {
      return [launch, await Link.open(launch, surroundings)];
    } catch (error) {
      problems.push(error as StartError);
    }
  }
  if (options.signal?.aborted) throw new CancelledError("start", options.signal.reason);
  const last = problems.at(-1) as StartError;
  if (problems.length === 1) throw last;
  throw new StartError(problems.map(({ message }) => message).join("\n"), last.data.command, last);
}

function launchOf(command: readonly string[], options: StartOptions): Launch {
  return {
    command: [...command, ...(options.args ?? []), "--stdio", `--clientProcessId=${process.pid}`],
    env: environmentFor(process.env, options.env, options.settings),
    cwd: options.cwd,
    initialize: initializeParams(options),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    background: options.background ?? false,
    ...(options.signal ? { signal: options.signal } : {}),
  };
}

function initializeParams({ handlers = {}, capabilities, clientInfo, settings }: StartOptions): InitializeParams {
  const afterturn: AfterturnClientCapabilities = {
    protocolVersion: PROTOCOL_VERSION,
    recap: capabilities?.recap ?? null,
  };
  for (const method of Object.keys(CAPABILITIES) as (keyof ServerRequests)[]) {
    if (handlers[method]) afterturn[CAPABILITIES[method]] = true;
  }
  return {
    processId: process.pid,
    clientInfo: clientInfo ?? { name: "@afterturn/client", version: VERSION },
    capabilities: { experimental: { afterturn } },
    initializationOptions: settings,
  };
}
