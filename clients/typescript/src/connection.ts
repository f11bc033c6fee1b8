import type { Writable } from "node:stream";
import { type Answer, Answers, HANDLER_FAILED, type Id } from "./answers.js";
import type { Call } from "./call.js";
import { type AfterturnError, ProtocolError, ResponseError, SendError } from "./errors.js";
import { encodeFrame, FrameReader } from "./framing.js";
import { ERROR_CODES } from "./methods.js";
import type { Handlers } from "./options.js";
import { Outbox } from "./outbox.js";
import type { CancelParams, ErrorObject, ProgressParams } from "./protocol.js";

/** How long a server may stop reading, in ms. */
const STALL_MS = 10_000;

export interface Surroundings {
  handlers: Handlers;
  onEvent: (method: string, params: unknown) => void;
  onWarning: (message: string, error?: unknown) => void;
  /** The stream cannot be used any more. */
  onBroken: (error: ProtocolError) => void;
}

interface Message {
  id?: Id | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: ErrorObject;
}

/** JSON-RPC with one process: which call an answer belongs to, and which answer a request of the server gets. */
export class Connection {
  /** Most bytes of a message, once the server has said so. */
  maxMessageBytes = Number.POSITIVE_INFINITY;

  readonly #calls = new Map<number, Call>();
  readonly #reader = new FrameReader();
  readonly #outbox: Outbox;
  readonly #answers: Answers;
  #lastId = 0;
  #ended: AfterturnError | null = null;

  constructor(
    output: Writable,
    private readonly surroundings: Surroundings,
    stallMs = STALL_MS,
  ) {
    this.#outbox = new Outbox(output, stallMs, () =>
      this.#break(new ProtocolError(`the server has read nothing for ${stallMs} ms`)),
    );
    this.#answers = new Answers(
      surroundings.handlers,
      (answer) => this.#reply(answer),
      (message, error) => surroundings.onWarning(message, error),
    );
  }

  /** Whether the server has stopped reading for now. */
  get isBlocked(): boolean {
    return this.#outbox.isBlocked;
  }

  get isEnded(): boolean {
    return this.#ended !== null;
  }

  send(call: Call): void {
    if (!call.open) return;
    if (this.#ended) {
      call.reject(this.#ended);
      return;
    }
    const id = ++this.#lastId;
    const params = call.options.onProgress ? { ...call.params, workDoneToken: id } : call.params;
    const frame = this.#encode(call, { id, method: call.method, params });
    if (!frame) return;
    if (!this.#outbox.push(frame)) {
      call.reject(new SendError(call.method, "busy", "the server does not read, and too much is waiting for it"));
      return;
    }
    this.#calls.set(id, call);
    call.onGivenUp = () => {
      this.#calls.delete(id);
      if (!this.#outbox.takeBack(frame)) this.notify("$/cancelRequest", { id });
    };
  }

  notify(method: string, params: object): void {
    if (this.#ended) return;
    let frame: Buffer;
    try {
      frame = frameOf({ method, params });
    } catch (error) {
      this.surroundings.onWarning(`${method} was not sent: JSON cannot say its params`, error);
      return;
    }
    const tooLarge = this.#tooLarge(frame);
    if (tooLarge) this.surroundings.onWarning(`${method} was not sent: ${tooLarge}`);
    else if (!this.#outbox.push(frame)) this.surroundings.onWarning(`${method} was not sent: the server does not read`);
  }

  receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      for (const body of this.#reader.push(chunk)) {
        this.#take(parse(body));
        if (this.#ended) return;
      }
    } catch (error) {
      this.#break(new ProtocolError(`the server wrote what is no message: ${(error as Error).message}`));
    }
  }

  /** Nothing more will come: every call that waits is rejected with this. */
  end(error: AfterturnError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#outbox.clear();
    this.#answers.abandon();
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(error);
  }

  #break(error: ProtocolError): void {
    this.end(error);
    this.surroundings.onBroken(error);
  }

  /** The call's frame; undefined, and the call rejected, where it cannot be sent. */
  #encode(call: Call, message: object): Buffer | undefined {
    let frame: Buffer;
    try {
      frame = frameOf(message);
    } catch (error) {
      call.reject(new SendError(call.method, "not_json", "JSON cannot say its params", error));
      return undefined;
    }
    const tooLarge = this.#tooLarge(frame);
    if (!tooLarge) return frame;
    call.reject(new SendError(call.method, "too_large", tooLarge));
    return undefined;
  }

  /** What is wrong with the size of a frame, if anything is. */
  #tooLarge({ length }: Buffer): string | undefined {
    if (length <= this.maxMessageBytes) return undefined;
    return `${length} bytes are more than the ${this.maxMessageBytes} that the server takes`;
  }

  #reply(answer: Answer): void {
    if (this.#ended) return;
    let frame: Buffer;
    try {
      frame = frameOf(answer);
      const tooLarge = this.#tooLarge(frame);
      if (tooLarge) throw new Error(tooLarge);
    } catch (error) {
      // Without an answer the server would wait until its own deadline.
      this.surroundings.onWarning("a handler's result was not sent", error);
      frame = frameOf({ id: answer.id, ...HANDLER_FAILED });
    }
    if (!this.#outbox.push(frame)) this.surroundings.onWarning("an answer was not sent: the server does not read");
  }

  #take({ id, method, params, result, error }: Message): void {
    if (method !== undefined) {
      if (id === undefined || id === null) this.#takeEvent(method, params);
      else void this.#answers.answer(id, method, params);
      return;
    }
    if (typeof id !== "number") {
      this.surroundings.onWarning(`the server could not read a message: ${error?.message ?? "no reason given"}`, error);
      return;
    }
    const call = this.#calls.get(id);
    // Nobody waits for it: a call that was given up, or a second answer.
    if (!call) return;
    this.#calls.delete(id);
    if (result !== undefined) call.resolve(result);
    else call.reject(errorOf(call.method, error));
  }

  #takeEvent(method: string, params: unknown): void {
    if (method === "$/cancelRequest") this.#answers.cancel((params as CancelParams).id);
    if (method === "$/progress") this.#takeProgress(params as ProgressParams);
    this.surroundings.onEvent(method, params);
  }

  #takeProgress({ token, value }: ProgressParams): void {
    const onProgress = typeof token === "number" ? this.#calls.get(token)?.options.onProgress : undefined;
    try {
      onProgress?.(value);
    } catch (error) {
      this.surroundings.onWarning("an onProgress threw", error);
    }
  }
}

function errorOf(method: string, error: ErrorObject | undefined): ResponseError {
  if (error) return new ResponseError(method, error.message, error.code, error.data ?? undefined);
  return new ResponseError(method, "the answer has neither result nor error", ERROR_CODES.internalError);
}

function frameOf(message: object): Buffer {
  return encodeFrame(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function parse(body: string): Message {
  const message: unknown = JSON.parse(body);
  if (typeof message !== "object" || (message as { jsonrpc?: unknown } | null)?.jsonrpc !== "2.0") {
    throw new Error(body.slice(0, 200));
  }
  return message as Message;
}
