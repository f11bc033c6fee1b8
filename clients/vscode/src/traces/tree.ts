import * as vscode from "vscode";
import type { Recap, Trace } from "../protocol.js";
import type { Server } from "../server.js";
import type { CurrentSession } from "../session.js";
import { type Episode, episodeLine, episodesOf, type Line, traceLine } from "./episodes.js";

const PAGE = 100;

type Node = { episode: Episode; newest: boolean } | { trace: Trace } | "more";

/** The view "Traces": finished work in the project of the current session, the newest first, and its steps. */
export class TracesTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #server: Server;
  readonly #session: CurrentSession;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Node>;
  /** Tells that the person has opened or closed the view. */
  readonly onDidChangeVisibility: vscode.TreeView<Node>["onDidChangeVisibility"];
  #traces: Trace[] = [];
  #cursor: string | undefined;

  constructor(server: Server, session: CurrentSession) {
    this.#server = server;
    this.#session = session;
    this.#view = vscode.window.createTreeView("afterturn.traces", { treeDataProvider: this });
    this.onDidChangeVisibility = this.#view.onDidChangeVisibility;
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }

  /** Reads the newest traces. */
  async refresh(): Promise<void> {
    const page = await this.#page();
    this.#traces = page.traces;
    this.#cursor = page.nextCursor ?? undefined;
    this.#changed.fire();
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    const page = await this.#page(this.#cursor);
    this.#traces.push(...page.traces);
    this.#cursor = page.nextCursor ?? undefined;
    this.#changed.fire();
  }

  /** Shows the recap above the tree, until there is none. */
  showRecap(recap: Recap | undefined): void {
    this.#view.message = recap?.text ?? "";
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      const episodes = episodesOf(this.#traces).map((episode, at): Node => ({ episode, newest: at === 0 }));
      return this.#cursor === undefined ? episodes : [...episodes, "more"];
    }
    return typeof node === "object" && "episode" in node ? node.episode.steps.map((trace) => ({ trace })) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node === "more") {
      return { label: "Show more", command: { command: "afterturn.moreTraces", title: "Show more" } };
    }
    if ("trace" in node) return traceItem(node.trace);
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = itemOf(episodeLine(node.episode, Date.now()));
    return { ...item, id: node.episode.episodeId, collapsibleState: node.newest ? Expanded : Collapsed };
  }

  async #page(cursor?: string): Promise<{ traces: Trace[]; nextCursor?: string | null }> {
    if (this.#session.id === undefined) return { traces: [] };
    return this.#server.request("traces/list", { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
  }
}

function traceItem(trace: Trace): vscode.TreeItem {
  const command = { command: "afterturn.openTrace", title: "Open Trace", arguments: [trace.traceId] };
  return { ...itemOf(traceLine(trace)), id: trace.traceId, command };
}

function itemOf({ icon, ...words }: Line): vscode.TreeItem {
  return { ...words, iconPath: new vscode.ThemeIcon(icon) };
}
