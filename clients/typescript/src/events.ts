import type { Exit } from "./errors.js";
import type { Events } from "./methods.js";

/** What the client tells of itself, beside the server's events. */
export interface ClientEvents {
  /** The process ended. `restarting`: another one is about to be started. */
  "client.exited": Exit & { restarting: boolean };
  /** Another process has taken over. It knows no session until it hears of it again. */
  "client.restarted": { restarts: number };
  /** Something went wrong that rejects no call: a listener threw, or a message fitted no call. */
  "client.warning": { message: string; error?: unknown };
}

type AllEvents = Events & ClientEvents;

export type EventName = keyof AllEvents;
export type EventParams<E extends EventName> = AllEvents[E];

type Listener = (params: unknown) => void;

/** Listeners by event. One that throws disturbs neither the others nor the connection. */
export class Emitter {
  readonly #byEvent = new Map<string, Set<Listener>>();

  /** Returns what takes it away again. The same function given twice is called twice. */
  add(event: string, listener: Listener): () => void {
    const entry: Listener = (params) => listener(params);
    const listeners = this.#byEvent.get(event) ?? new Set();
    this.#byEvent.set(event, listeners.add(entry));
    return () => void listeners.delete(entry);
  }

  emit(event: string, params: unknown): void {
    for (const listener of [...(this.#byEvent.get(event) ?? [])]) {
      try {
        listener(params);
      } catch (error) {
        // A listener of warnings that throws has nobody left to tell.
        if (event !== "client.warning") this.warn(`a listener of ${event} threw`, error);
      }
    }
  }

  warn(message: string, error?: unknown): void {
    this.emit("client.warning", error === undefined ? { message } : { message, error });
  }
}
