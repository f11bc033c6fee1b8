import * as vscode from "vscode";
import { contextOf } from "./context.js";
import type { RecapContext } from "./protocol.js";
import type { Server } from "./server.js";

/** Steps of a session that a recap is drafted from: the server cuts the rest in any case. */
const MOST_STEPS = 200;

/** The session that recaps and traces are about: the one of this workspace that was active last, by the server. */
export class CurrentSession implements vscode.Disposable {
  readonly #server: Server;
  readonly #changed = new vscode.EventEmitter<string>();
  /** Tells the id of a session that was just opened. */
  readonly onDidOpen = this.#changed.event;
  #id: string | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.onContextAsked((sessionId) => this.#context(sessionId));
    server.onDidChangeHealth(({ state }) => {
      if (state !== "running") this.#id = undefined;
    });
  }

  get id(): string | undefined {
    return this.#id;
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Looks whether there is a newer session, and opens it. */
  async refresh(): Promise<void> {
    const { sessionId } = await this.#server.status();
    if (sessionId === null || sessionId === this.#id) return;
    await this.#server.request("session/open", { sessionId, reason: "resume", hasHistory: true, interactive: true });
    this.#id = sessionId;
    this.#changed.fire(sessionId);
  }

  async #context(sessionId: string): Promise<RecapContext> {
    const { traces } = await this.#server.request("traces/list", { sessionId, limit: MOST_STEPS });
    return contextOf(traces);
  }
}
