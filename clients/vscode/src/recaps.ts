import * as vscode from "vscode";
import type { Recap } from "./protocol.js";
import type { Server } from "./server.js";
import type { CurrentSession } from "./session.js";
import { WaitingRecap } from "./waiting.js";
import { reasonWhy, withoutLinks } from "./wording.js";

const DISMISS = "Dismiss";

/** Tells the server whether the person is there, and shows its recaps when they are. */
export class Recaps implements vscode.Disposable {
  readonly #server: Server;
  readonly #session: CurrentSession;
  readonly #waiting = new WaitingRecap();
  readonly #changed = new vscode.EventEmitter<Recap | undefined>();
  /** Tells the recap that is there now, seen or not. */
  readonly onDidChange = this.#changed.event;
  readonly #listening: vscode.Disposable;
  #present = vscode.window.state.focused;

  constructor(server: Server, session: CurrentSession) {
    this.#server = server;
    this.#session = session;
    this.#listening = vscode.Disposable.from(
      vscode.window.onDidChangeWindowState(({ focused }) => this.#focusChanged(focused)),
      session.onDidOpen(() => this.#report()),
    );
    server.onEvent("recap.ready", (recap) => this.#arrived(recap));
    server.onEvent("recap.cleared", ({ recapId }) => this.#cleared(recapId));
  }

  get recap(): Recap | undefined {
    return this.#waiting.recap;
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }

  /** The command: the recap that is there, else a new one. */
  async show(): Promise<void> {
    const sessionId = this.#session.id;
    if (sessionId === undefined) {
      void vscode.window.showInformationMessage("No recap: no session of this folder is known.");
      return;
    }
    const there = this.#waiting.recap;
    if (there !== undefined) return this.#display(there);
    const { recap, reason } = await this.#server.recap(sessionId);
    if (recap === null) void vscode.window.showInformationMessage(`No recap: ${reasonWhy(reason)}.`);
    else this.#arrived(recap);
  }

  /** The person does not want to see it any more. */
  async dismiss(): Promise<void> {
    const recap = this.#waiting.recap;
    if (recap === undefined) return;
    this.#cleared(recap.recapId);
    await this.#server.request("recap/dismiss", { sessionId: recap.sessionId });
  }

  /** A piece of work was finished: whoever is away can be told of it. */
  async workEnded(sessionId: string): Promise<void> {
    if (sessionId === this.#session.id) await this.#server.request("recap/onTurnEnd", { sessionId });
  }

  #focusChanged(focused: boolean): void {
    if (focused === this.#present) return;
    this.#present = focused;
    this.#report();
    this.#showWaiting();
  }

  #report(): void {
    const sessionId = this.#session.id;
    if (sessionId === undefined) return;
    const focus = { sessionId, focused: this.#present, at: Date.now(), source: "window" };
    this.#server.request("recap/onFocus", focus).catch((problem) => this.#server.log.warn(`recap/onFocus: ${problem}`));
  }

  #arrived(recap: Recap): void {
    this.#waiting.arrived(recap);
    this.#changed.fire(recap);
    this.#showWaiting();
  }

  #cleared(recapId: string): void {
    if (this.#waiting.cleared(recapId)) this.#changed.fire(undefined);
  }

  #showWaiting(): void {
    const recap = this.#present ? this.#waiting.take() : undefined;
    if (recap !== undefined) this.#display(recap);
  }

  #display(recap: Recap): void {
    void vscode.window.showInformationMessage(withoutLinks(recap.text), DISMISS).then(async (choice) => {
      if (choice === DISMISS && this.#waiting.recap?.recapId === recap.recapId) await this.dismiss();
    });
  }
}
