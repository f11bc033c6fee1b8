import * as vscode from "vscode";
import type { Server } from "./server.js";

const REF = /\b[tb][1-9][0-9]*\b/;

/** Asks for a ref - the one under the cursor is there already - and opens its original. */
export async function openRef(server: Server): Promise<void> {
  const ref = await vscode.window.showInputBox({
    prompt: "The ref whose original to open",
    placeHolder: "t12",
    value: refAtCursor() ?? "",
    validateInput: (text) =>
      new RegExp(`^${REF.source}$`).test(text.trim()) ? null : "A ref is t or b and a number, such as t12.",
  });
  if (ref === undefined) return;
  const { uri, text } = await server.original(ref.trim());
  if (uri === null)
    void vscode.window.showWarningMessage(text ?? `The newest session of this folder has no ref ${ref.trim()}.`);
  else await vscode.window.showTextDocument(uri, { preview: true });
}

function refAtCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const range = editor?.document.getWordRangeAtPosition(editor.selection.active, REF);
  return range === undefined ? undefined : editor?.document.getText(range);
}
