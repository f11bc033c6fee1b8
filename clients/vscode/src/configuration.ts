import * as vscode from "vscode";
import { settingsOf, type Tree } from "./settings.js";

/** The server's settings that are set in this window. */
export function explicitSettings(): Tree {
  const configuration = vscode.workspace.getConfiguration("afterturn");
  return settingsOf(knownKeys(), (key) => configuration.inspect(key));
}

/** The keys are those of the extension's own manifest, which come from the server's schema. */
function knownKeys(): string[] {
  const manifest: { contributes: { configuration: { properties: object }[] } } | undefined =
    vscode.extensions.getExtension("afterturn.afterturn")?.packageJSON;
  return (manifest?.contributes.configuration ?? [])
    .flatMap(({ properties }) => Object.keys(properties))
    .map((name) => name.replace("afterturn.", ""));
}
