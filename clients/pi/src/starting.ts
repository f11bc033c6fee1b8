/** A sidecar for a session: found, started, told what pi can do, and told of the session. */
import type { EventName, EventParams, RecapCapability, SessionOpenParams } from "@afterturn/client";
import { Afterturn } from "@afterturn/client";
import { hasHistory } from "./branch.js";
import { recapSettings } from "./flags.js";
import type { Context, Pi, StartReason } from "./host.js";
import { headerId } from "./parent.js";
import { RECOVERY_TOOL } from "./recovery.js";
import { createMessage } from "./sampling.js";
import type { Session } from "./session.js";
import { limitText } from "./status.js";

/** Log messages up to this type are for a person: 1 is an error, 2 a warning. */
const WARNING = 2;

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
    // The tool has its name from here, whatever a settings file says: digests must name the one that there is.
    settings: { condense: { recoveryToolName: RECOVERY_TOOL }, recap: recapSettings((name) => pi.getFlag(name)) },
    // Given here, not later: the first comes right after the handshake.
    on: {
      "window/logMessage": ({ type, message }) =>
        session.whileRunning(() => type <= WARNING && session.warning(message, "settings")),
      "usage.limit": (limit) => session.whileRunning(() => session.warning(limitText(limit))),
    },
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
    client.on(event, (params) => session.whileRunning(() => isAbout(params, session.id) && react(params)));
  };
  on("condense.ready", ({ result }) => session.condensed(result.items, result.usage));
  on("recap.ready", (recap) => session.recapReady(recap));
  on("recap.cleared", ({ recapId }) => session.recapCleared(recapId));
  on("capture.started", () => session.captured("capturing", null));
  // One that is told of again was paid for when it was told of first.
  on("capture.done", ({ result, replayed }) => session.captured("captured", replayed ? null : result.usage));
  on("capture.failed", () => session.captured("capture failed", null));
  on("client.exited", ({ restarting, exitCode, signal, stderr }) => {
    if (restarting) return;
    const how = signal ?? `code ${exitCode}`;
    session.notice(`the sidecar ended again and again, last with ${how}. ${stderr.trim().split("\n").at(-1)}`);
  });
  on("client.restarted", () => session.restarted(client));
}

/** The sidecar also tells of sessions whose work it took over from a process that had ended; those are not ours. */
function isAbout(params: object, id: string): boolean {
  const { sessionId, result } = params as { sessionId?: string; result?: { sessionId?: string } };
  return (sessionId ?? result?.sessionId ?? id) === id;
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

/** The session this one was forked from: pi names its file, whose first line names the session. */
function parentId({ sessionManager }: Context): string | undefined {
  const file = sessionManager.getHeader()?.parentSession;
  return file && headerId(file);
}
