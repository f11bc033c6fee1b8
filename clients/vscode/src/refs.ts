import * as vscode from "vscode";
import type { Server } from "./server.js";

const REF = /\b[tb][1-9][0-9]{0,17}\b/;

/** Asks for a ref - the one under the cursor is there already - and opens its original, in the session of that line. */
export async function openRef(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const ref = await vscode.window.showInputBox({
    prompt: "The ref whose original to open",
    placeHolder: "t12",
    value: refAt(editor) ?? "",
    validateInput: (text) =>
      new RegExp(`^${REF.source}$`).test(text.trim()) ? null : "A ref is t or b and a number, such as t12.",
  });
  if (ref === undefined) return;
  const place = editor && { uri: editor.document.uri.toString(), line: editor.selection.active.line };
  const { uri, text } = await server.original(ref.trim(), place);
  if (uri === null) void vscode.window.showWarningMessage(text ?? `The session has no ref ${ref.trim()}.`);
  else await vscode.window.showTextDocument(uri, { preview: true });
}

function refAt(editor: vscode.TextEditor | undefined): string | undefined {
  const range = editor?.document.getWordRangeAtPosition(editor.selection.active, REF);
  return range === undefined ? undefined : editor?.document.getText(range);
}
