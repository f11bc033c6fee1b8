/**
 * Everything the client rejects with.
 *
 *     AfterturnError           code                what `data` holds
 *     ├── ResponseError        the wire's number   ErrorData: the server answered with an error
 *     ├── CancelledError       "cancelled"         –: the call's signal was aborted
 *     ├── TimeoutError         "timeout"           {method, timeoutMs}: no answer in time
 *     ├── SendError            "busy", "too_large", "not_json"
 *     │                                            {method}: nothing was sent
 *     └── UnavailableError                         there is no server (any more)
 *         ├── NotFoundError    "not_found"         {tried}: none is installed; the message says what to type
 *         ├── StartError       "start_failed"      {command}: it did not start, or did not shake hands
 *         ├── ProtocolError    "protocol"          –: it wrote what is no message, and was ended for that
 *         ├── ExitError        "exited"            Exit: it ended by itself
 *         └── ClosedError      "closed"            –: the client was closed
 */
import type { ErrorKind } from "./methods.js";
import type { ErrorData } from "./protocol.js";

export class AfterturnError<Data = unknown> extends Error {
  constructor(
    message: string,
    /** For programs: a number from the wire, or a word of this client. */
    readonly code: number | string,
    readonly data: Data,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server answered with an error (spec/errors.md). */
export class ResponseError extends AfterturnError<ErrorData | undefined> {
  constructor(
    readonly method: string,
    message: string,
    override readonly code: number,
    data?: ErrorData,
  ) {
    super(`${method}: ${message}`, code, data);
  }

  /** Which failure it is, where the server says so. */
  get kind(): ErrorKind | undefined {
    return this.data?.kind ?? undefined;
  }

  /** The same request may succeed later. */
  get retryable(): boolean {
    return this.data?.retryable === true;
  }
}

/** The call's signal was aborted; `cause` is its reason. */
export class CancelledError extends AfterturnError<undefined> {
  constructor(method: string, reason: unknown) {
    super(`${method} was cancelled`, "cancelled", undefined, { cause: reason });
  }
}

/** No answer came in time. The server has been told to stop. */
export class TimeoutError extends AfterturnError<{ method: string; timeoutMs: number }> {
  constructor(method: string, timeoutMs: number) {
    super(`${method}: no answer within ${timeoutMs} ms`, "timeout", { method, timeoutMs });
  }
}

/** The call never left: the server has stopped reading ("busy"), it is too large, or JSON cannot say it. */
export class SendError extends AfterturnError<{ method: string }> {
  constructor(method: string, code: "busy" | "too_large" | "not_json", message: string, cause?: unknown) {
    super(`${method}: ${message}`, code, { method }, { cause });
  }
}

/** There is no server to talk to. */
export class UnavailableError<Data = unknown> extends AfterturnError<Data> {}

/** No server is installed where it was looked for. */
export class NotFoundError extends UnavailableError<{ tried: readonly string[] }> {
  constructor(message: string, tried: readonly string[]) {
    super(message, "not_found", { tried });
  }
}

/** A server was there, but did not start or did not shake hands; `cause` says why. */
export class StartError extends UnavailableError<{ command: readonly string[] }> {
  constructor(message: string, command: readonly string[], cause?: unknown) {
    super(message, "start_failed", { command }, { cause });
  }
}

/** The server wrote something that is no message. What follows cannot be trusted, so the process was ended. */
export class ProtocolError extends UnavailableError<undefined> {
  constructor(message: string) {
    super(message, "protocol", undefined);
  }
}

/** How a server process ended. */
export interface Exit {
  /** Null where a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** The end of what it wrote to stderr. */
  stderr: string;
}

/** The server ended though nobody had asked it to. */
export class ExitError extends UnavailableError<Exit> {
  constructor(exit: Exit) {
    const how = exit.signal === null ? `with code ${exit.exitCode}` : `by ${exit.signal}`;
    const last = exit.stderr.trimEnd();
    super(`afterturn ended ${how}${last ? `; it last wrote:\n${last}` : ""}`, "exited", exit);
  }
}

/** The client was closed. */
export class ClosedError extends UnavailableError<undefined> {
  constructor() {
    super("the client is closed", "closed", undefined);
  }
}
