import * as vscode from "vscode";
import { Pages } from "./pages.js";
import { Recaps } from "./recaps.js";
import { openRef } from "./refs.js";
import { Server } from "./server.js";
import { CurrentSession } from "./session.js";
import { StatusBar } from "./statusBar.js";
import { statusPage } from "./statusPage.js";
import { title } from "./traces/episodes.js";
import { tracePage } from "./traces/page.js";
import { searchTraces } from "./traces/search.js";
import { TracesTree } from "./traces/tree.js";
import { head, withoutLinks } from "./wording.js";

const TAB_CHARS = 30;

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const window = new Window();
  server = window.server;
  context.subscriptions.push(window);
  void server.restart();
}

/** VS Code waits for this before it ends the extension's process, and the server ends with a proper goodbye. */
export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

/** The parts of the extension in one window, and what each has to hear of the others. */
class Window implements vscode.Disposable {
  readonly server = new Server();
  readonly #session = new CurrentSession(this.server);
  readonly #recaps = new Recaps(this.server, this.#session);
  readonly #tree = new TracesTree(this.server, this.#session);
  readonly #pages = new Pages();
  readonly #status = new StatusBar();
  readonly #listening: vscode.Disposable[];
  #reading: Promise<void> = Promise.resolve();

  constructor() {
    this.#listening = [...this.#commands(), ...this.#wiring()];
    this.server.onEvent("capture.started", ({ jobId }) => this.#status.capture(jobId, true));
    this.server.onEvent("capture.failed", ({ jobId }) => this.#status.capture(jobId, false));
    this.server.onEvent("capture.done", ({ jobId, result }) => {
      this.#status.capture(jobId, false);
      void this.#refresh(result.sessionId);
    });
  }

  dispose(): void {
    const parts = [this.#recaps, this.#tree, this.#pages, this.#status, this.#session, this.server];
    for (const part of [...this.#listening, ...parts]) part.dispose();
  }

  #wiring(): vscode.Disposable[] {
    return [
      this.server.onDidChangeHealth((health) => {
        this.#status.health(health);
        if (health.state === "running") void this.#refresh();
        if (health.state === "failed") void this.#tellProblem(health.problem);
      }),
      this.#recaps.onDidChange((recap) => {
        this.#status.recap(recap);
        this.#tree.showRecap(recap);
        void vscode.commands.executeCommand("setContext", "afterturn.hasRecap", recap !== undefined);
      }),
      // A session that is new to this window tells it nothing: looking is what finds it.
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.#refresh();
      }),
      this.#tree.onDidChangeVisibility(({ visible }) => {
        if (visible) void this.#refresh();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("afterturn.command")) void this.server.restart();
        else if (change.affectsConfiguration("afterturn")) void this.server.settingsChanged();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.#refresh()),
    ];
  }

  #commands(): vscode.Disposable[] {
    const commands: Record<string, (...args: never[]) => unknown> = {
      "afterturn.showRecap": () => this.#recaps.show(),
      "afterturn.dismissRecap": () => this.#recaps.dismiss(),
      "afterturn.findTraces": async () => this.#openTrace(await searchTraces(this.server)),
      "afterturn.refreshTraces": () => this.#refresh(),
      "afterturn.openTrace": (traceId: string) => this.#openTrace(traceId),
      "afterturn.moreTraces": () => this.#tree.more(),
      "afterturn.openRef": () => openRef(this.server),
      "afterturn.showStatus": () => this.#showStatus(),
      "afterturn.restart": () => this.server.restart(),
    };
    return Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run));
  }

  /** Reads what the store holds now, one reading after the other. ended: the session of work that was just captured. */
  #refresh(ended?: string): Promise<void> {
    this.#reading = this.#reading.then(() => this.#read(ended));
    return this.#reading;
  }

  async #read(ended: string | undefined): Promise<void> {
    if (this.server.health.state !== "running") return;
    try {
      await this.#session.refresh();
      await this.#tree.refresh();
      if (ended !== undefined) await this.#recaps.workEnded(ended);
    } catch (problem) {
      // The server may have ended meanwhile, which its health tells; everything is read again when it is back.
      this.server.log.warn(`Reading traces: ${String(problem)}`);
    }
  }

  async #openTrace(traceId: string | undefined): Promise<void> {
    if (traceId === undefined) return;
    const { traces } = await this.server.request("traces/get", { traceIds: [traceId] });
    const trace = traces[0];
    if (trace === undefined) void vscode.window.showWarningMessage("This trace was deleted.");
    else await this.#pages.show(head(title(trace), TAB_CHARS), traceId, tracePage(trace));
  }

  async #showStatus(): Promise<void> {
    await this.#pages.show("afterturn", "status", statusPage(await this.server.status()));
  }

  async #tellProblem(problem: string): Promise<void> {
    const [settings, again] = ["Open Settings", "Try Again"];
    const choice = await vscode.window.showErrorMessage(withoutLinks(problem), settings, again);
    if (choice === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "afterturn.command");
    if (choice === again) await this.server.restart();
  }
}
