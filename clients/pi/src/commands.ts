/** `/afterturn`, `/recap` and `/traces`. */
import type { Context, Pi } from "./host.js";
import type { Session } from "./session.js";
import { hitsReport, statusReport, usageReport } from "./status.js";

const HITS = 5;
const RECAP_PATIENCE_MS = 60_000;

type Action = (session: Session) => Promise<string>;

const ACTIONS: Record<string, Action> = {
  status: async (session) => {
    const status = await session.sidecar.demand((client) => client.afterturn.status({}));
    return statusReport(status, session.standing, session.recoverable);
  },
  on: (session) => session.turn(true),
  off: (session) => session.turn(false),
  flush: async (session) => {
    const { batches } = await session.sidecar.demand((client) => client.condense.flush({ sessionId: session.id }));
    return batches ? `Condensing ${batches} ${batches === 1 ? "batch" : "batches"}.` : "Nothing waits to be condensed.";
  },
  stats: async (session) => usageReport(await session.sidecar.demand((client) => client.afterturn.usage({}))),
  // For front ends that drive pi by RPC and know their window's focus, where a terminal would report it.
  focus: (session) => session.focused(true, "window"),
  blur: (session) => session.focused(false, "window"),
};

/** `session`: the running session, if there is one. */
export function registerCommands(pi: Pi, session: () => Session | undefined): void {
  const run = (action: (session: Session, args: string) => Promise<string | undefined>) => {
    return async (args: string, context: Context) => {
      const current = session();
      if (!current) return;
      // The answer may come when pi has left the session; nobody waits for it then.
      const tell = (message: string, type: "info" | "warning"): void =>
        current.whileRunning(() => context.ui.notify(message, type));
      try {
        const message = await action(current, args.trim());
        if (message) tell(message, "info");
      } catch (error) {
        tell(error instanceof Error ? error.message : String(error), "warning");
      }
    };
  };
  pi.registerCommand("afterturn", {
    description: "afterturn: status, on, off, flush (condense what waits now), stats (model use)",
    getArgumentCompletions: (prefix) => completions(prefix),
    handler: run((current, word) => actionOf(word || "status")(current)),
  });
  pi.registerCommand("recap", {
    description: "What this session is about and what comes next",
    handler: run((current) => recap(current)),
  });
  pi.registerCommand("traces", {
    description: "Search the finished work of this project: /traces QUERY",
    handler: run((current, query) => traces(current, query)),
  });
}

/** What a word stands for; a name that every object has stands for nothing. */
function actionOf(word: string): Action {
  return (Object.hasOwn(ACTIONS, word) && ACTIONS[word]) || unknown;
}

async function unknown(): Promise<string> {
  return `Type one of: ${Object.keys(ACTIONS).join(", ")}.`;
}

function completions(prefix: string): { value: string; label: string }[] | null {
  const found = Object.keys(ACTIONS).filter((word) => word.startsWith(prefix));
  return found.length ? found.map((word) => ({ value: word, label: word })) : null;
}

async function recap(session: Session): Promise<string | undefined> {
  const { recap: drafted, reason } = await session.sidecar.demand((client) =>
    client.recap.now({ sessionId: session.id, context: session.recapContext() }, { timeoutMs: RECAP_PATIENCE_MS }),
  );
  if (!drafted) return `No recap (${reason ?? "nothing to say"}).`;
  session.whileRunning(() => session.recapReady(drafted));
  return undefined;
}

async function traces(session: Session, query: string): Promise<string> {
  if (!query) return "Type what to look for: /traces QUERY";
  const { hits } = await session.sidecar.demand((client) =>
    client.traces.search({ query, sessionId: session.id, limit: HITS }),
  );
  return hitsReport(hits);
}
