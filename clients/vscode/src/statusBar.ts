import * as vscode from "vscode";
import type { Recap } from "./protocol.js";
import type { Health } from "./server.js";

/** The item in the status bar: how the server is, and whether there is a recap. */
export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("afterturn", vscode.StatusBarAlignment.Left, -1000);
  #health: Health = { state: "stopped" };
  #recap: Recap | undefined;
  #capturing = new Set<string>();

  constructor() {
    this.#item.name = "afterturn";
    this.#draw();
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }

  health(health: Health): void {
    this.#health = health;
    if (health.state !== "running") this.#capturing.clear();
    this.#draw();
  }

  recap(recap: Recap | undefined): void {
    this.#recap = recap;
    this.#draw();
  }

  /** A capture began, or ended. */
  capture(jobId: string, runs: boolean): void {
    if (runs) this.#capturing.add(jobId);
    else this.#capturing.delete(jobId);
    this.#draw();
  }

  #draw(): void {
    const { text, tooltip, command } = this.#face();
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.command = command;
    const failed = this.#health.state === "failed";
    this.#item.backgroundColor = failed ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  #face(): { text: string; tooltip: string; command: string } {
    const health = this.#health;
    if (health.state === "failed") {
      return { text: "$(warning) afterturn", tooltip: health.problem, command: "afterturn.restart" };
    }
    if (health.state === "starting") {
      return { text: "$(sync~spin) afterturn", tooltip: "afterturn is starting", command: "afterturn.restart" };
    }
    if (health.state === "stopped") {
      return { text: "$(circle-slash) afterturn", tooltip: "afterturn is not running", command: "afterturn.restart" };
    }
    if (this.#recap !== undefined) {
      return { text: "$(comment-discussion) Recap", tooltip: this.#recap.text, command: "afterturn.showRecap" };
    }
    if (this.#capturing.size > 0) {
      return { text: "$(sync~spin) afterturn", tooltip: "Capturing finished work", command: "afterturn.showStatus" };
    }
    return { text: "$(history) afterturn", tooltip: "afterturn is running", command: "afterturn.showStatus" };
  }
}
