import * as vscode from "vscode";
import type { Server } from "../server.js";
import { ago, head } from "../wording.js";
import { alpha, title } from "./episodes.js";

const MOST_HITS = 30;

interface Pick extends vscode.QuickPickItem {
  traceId: string;
}

/** Asks for words, lists the traces that fit as they are typed, and gives the one that was picked. */
export function searchTraces(server: Server): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<Pick>();
  pick.placeholder = "Words to look for in the traces of this folder";
  let running: vscode.CancellationTokenSource | undefined;
  const search = async (query: string): Promise<void> => {
    running?.cancel();
    const mine = (running = new vscode.CancellationTokenSource());
    pick.busy = true;
    try {
      const found = await hits(server, query, mine.token);
      if (running === mine) pick.items = found;
    } catch (problem) {
      if (running === mine) pick.items = [nothing(`The search failed: ${String(problem)}`)];
    } finally {
      if (running === mine) pick.busy = false;
    }
  };
  return new Promise((resolve) => {
    pick.onDidChangeValue((query) => void search(query));
    pick.onDidAccept(() => {
      resolve(pick.selectedItems[0]?.traceId || undefined);
      pick.hide();
    });
    pick.onDidHide(() => {
      running?.cancel();
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

async function hits(server: Server, query: string, token: vscode.CancellationToken): Promise<Pick[]> {
  if (query.trim() === "") return [];
  const { hits } = await server.request("traces/search", { query, limit: MOST_HITS }, token);
  if (hits.length === 0) return [nothing(`Nothing was found for ${query}`)];
  return hits.map(({ trace }) => ({
    label: title(trace),
    description: `${alpha(trace)}, ${ago(trace.ts, Date.now())}`,
    detail: head(trace.userText, 120),
    alwaysShow: true,
    traceId: trace.traceId,
  }));
}

/** A line that says something and leads nowhere. */
function nothing(label: string): Pick {
  return { label, alwaysShow: true, traceId: "" };
}
