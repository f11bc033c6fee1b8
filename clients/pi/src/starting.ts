/** A sidecar for a session: found, started, told what pi can do, and told of the session. */
import type { EventName, EventParams, RecapCapability, SessionOpenParams } from "@afterturn/client";
import { Afterturn } from "@afterturn/client";
import { basename } from "node:path";
import { hasHistory } from "./branch.js";
import { recapSettings } from "./flags.js";
import type { Context, Pi, StartReason } from "./host.js";
import { createMessage } from "./sampling.js";
import type { Session } from "./session.js";

/** `begun`: whether work begins right after the start; undefined where nobody needs to know. */
export async function starting(
  pi: Pi,
  session: Session,
  reason: StartReason,
  begun: Promise<true | undefined> | undefined,
  signal: AbortSignal,
): Promise<Afterturn> {
  const { context } = session;
  const client = await Afterturn.start({
    clientInfo: { name: "pi" },
    // pi can end at any time: nothing here may keep it alive.
    background: true,
    signal,
    restart: true,
    settings: { recap: recapSettings((name) => pi.getFlag(name)) },
    ...(context.hasUI ? { capabilities: { recap: recapCapability(session) } } : {}),
    handlers: {
      "sampling/createMessage": (params, { signal }) =>
        createMessage(params, signal, session.context.modelRegistry, session.context.model),
      "host/getContext": () => session.recapContext(),
    },
  });
  listen(client, session);
  const hasInitialPrompt = (await begun) === true;
  session.whileRunning(() => open(client, session, reason, hasInitialPrompt));
  // Has the sidecar load what takes episodes now, rather than when pi is about to end.
  client.capture.drain({}).catch(() => undefined);
  return client;
}

/**
 * A terminal may or may not report focus. A front end can say what its window's is, and one that does not is driven by
 * a program: there, quiet alone is no reason to draft.
 */
function recapCapability({ inTerminal }: Session): RecapCapability {
  return { canShow: true, canSave: true, focusReporting: inTerminal ? "unknown" : "supported" };
}

function listen(client: Afterturn, session: Session): void {
  const on = <E extends EventName>(event: E, react: (params: EventParams<E>) => void): void => {
    client.on(event, (params) => session.whileRunning(() => react(params)));
  };
  on("condense.ready", ({ result }) => session.condensed(result.items, result.usage));
  on("recap.ready", (recap) => session.recapReady(recap));
  on("recap.cleared", ({ recapId }) => session.recapCleared(recapId));
  on("capture.started", () => session.captured("capturing", null));
  on("capture.done", ({ result }) => session.captured("captured", result.usage));
  on("capture.failed", () => session.captured("capture failed", null));
  on("client.exited", ({ restarting, stderr }) => {
    if (!restarting) session.notice(`the sidecar has ended. ${stderr.trim().split("\n").at(-1)}`);
  });
  on("client.restarted", () => {
    open(client, session, "reload", false);
    session.restarted();
  });
}

/** Not awaited: what follows in the same session takes effect after it. */
export function open(client: Afterturn, session: Session, reason: StartReason, hasInitialPrompt: boolean): void {
  client.session.open(opening(session, reason, hasInitialPrompt)).catch(() => {
    // What comes next opens the session too, with less said about it.
  });
}

function opening(session: Session, reason: StartReason, hasInitialPrompt: boolean): SessionOpenParams {
  const { context } = session;
  const model = session.model();
  const saved = session.savedRecap();
  const parent = parentId(context);
  return {
    sessionId: session.id,
    project: context.cwd,
    reason,
    hasHistory: hasHistory(context.sessionManager.getBranch()),
    hasInitialPrompt,
    interactive: context.hasUI,
    ...(parent ? { parentSessionId: parent } : {}),
    ...(model ? { model } : {}),
    ...(saved ? { savedRecap: saved } : {}),
  };
}

/** The session this one was forked from: pi names its file, and the file is named by time and id. */
function parentId({ sessionManager }: Context): string | undefined {
  const file = sessionManager.getHeader()?.parentSession;
  return file && /^[^_]+_(.+)\.jsonl$/.exec(basename(file))?.[1];
}
