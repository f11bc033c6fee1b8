import * as vscode from "vscode";

/** Of the pages' URIs. */
export const PAGE_SCHEME = "afterturn-page";

/** Read-only pages that the extension writes itself, such as a trace; originals are the server's. */
export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #written = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registered = vscode.workspace.registerTextDocumentContentProvider(PAGE_SCHEME, this);
  readonly #closing = vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#written.delete(uri.toString()));

  dispose(): void {
    this.#registered.dispose();
    this.#closing.dispose();
    this.#changed.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#written.get(uri.toString()) ?? "This page is gone. Open it again from the afterturn view.\n";
  }

  /** Shows a page of Markdown, in place of what it showed before. title: on its tab. id: what sets it apart. */
  async show(title: string, id: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: PAGE_SCHEME, path: `/${title.replaceAll(/[/\\]/g, "∕")}.md`, query: id });
    this.#written.set(uri.toString(), text);
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }
}
