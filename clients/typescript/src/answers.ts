import { ERROR_CODES, type ServerRequests } from "./methods.js";
import type { Handlers } from "./options.js";

export type Id = number | string;

/** What is sent back: the message without its `jsonrpc`. */
export type Answer = { id: Id } & ({ result: unknown } | { error: { code: number; message: string } });

/** What went wrong is the host's to know: the server learns only that it did. */
export const HANDLER_FAILED = { error: { code: ERROR_CODES.internalError, message: "The host's handler failed" } };

type AnyHandler = (params: unknown, context: { signal: AbortSignal }) => unknown;

/** Answers the server's requests with the host's handlers: each exactly once, whatever a handler does. */
export class Answers {
  readonly #running = new Map<Id, AbortController>();

  constructor(
    private readonly handlers: Handlers,
    private readonly send: (answer: Answer) => void,
    private readonly warn: (message: string, error?: unknown) => void,
  ) {}

  async answer(id: Id, method: string, params: unknown): Promise<void> {
    const handler = Object.hasOwn(this.handlers, method) ? this.handlers[method as keyof ServerRequests] : undefined;
    if (!handler) {
      this.send({ id, error: { code: ERROR_CODES.methodNotFound, message: `The host does not answer ${method}` } });
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    const answer = await this.#run(handler as AnyHandler, id, method, params, controller.signal);
    // Not there: the server has cancelled it, and has had its answer.
    if (this.#running.delete(id)) this.send(answer);
  }

  /** The server no longer wants the answer. */
  cancel(id: Id): void {
    const controller = this.#running.get(id);
    if (!controller) return;
    this.#running.delete(id);
    this.send({ id, error: { code: ERROR_CODES.requestCancelled, message: "Cancelled" } });
    controller.abort();
  }

  /** Nobody is there for an answer any more. */
  abandon(): void {
    const controllers = [...this.#running.values()];
    this.#running.clear();
    for (const controller of controllers) controller.abort();
  }

  async #run(handler: AnyHandler, id: Id, method: string, params: unknown, signal: AbortSignal): Promise<Answer> {
    try {
      return { id, result: (await handler(params, { signal })) ?? {} };
    } catch (error) {
      if (!signal.aborted) this.warn(`the handler of ${method} failed`, error);
      return { id, ...HANDLER_FAILED };
    }
  }
}
