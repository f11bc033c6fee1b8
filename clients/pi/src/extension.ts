/**
 * afterturn in pi. The factory only registers; the sidecar starts with a session and ends with it.
 *
 * pi never waits here: nothing but the end of a session is awaited, and that is bounded. A bug in a handler costs what
 * that handler does, and says so once.
 */
import { registerCommands } from "./commands.js";
import { registerFlags } from "./flags.js";
import type { Context, Events, Pi } from "./host.js";
import { recoveryTool } from "./recovery.js";
import { Session } from "./session.js";

export default function afterturn(pi: Pi): void {
  let session: Session | undefined;

  /** Handles an event with the running session, to which its context becomes the newest. */
  const on = <E extends keyof Events>(name: E, handle: (running: Session, event: Events[E]) => unknown): void => {
    pi.on(name, (event, context) => {
      const running = session;
      if (!running) return undefined;
      running.context = context;
      try {
        return handle(running, event);
      } catch (error) {
        running.notice(error);
        return undefined;
      }
    });
  };

  registerFlags(pi);
  registerCommands(pi, () => session);
  pi.registerTool(recoveryTool(() => session));

  pi.on("session_start", ({ reason }, context) => {
    // The older pi says it twice of a new session.
    session ??= new Session(pi, context, reason, pi.getFlag("recap-disable-focus") !== true);
  });
  pi.on("session_shutdown", async ({ reason }, context: Context) => {
    const ending = session;
    session = undefined;
    if (!ending) return;
    ending.context = context;
    await ending.end(reason);
  });
  on("input", (running) => running.submitted());
  on("agent_start", (running) => running.agentStarted());
  on("turn_start", (running) => running.turnStarted());
  on("message_end", (running, { message }) => running.messageEnded(message));
  on("context", (running, { messages }) => running.swap(messages));
  on("turn_end", (running, event) => {
    running.turnEnded(event);
    return running.proposal(event);
  });
  on("agent_before_settle", (running, event) => running.proposal(event));
  on("session_compact", (running) => running.compacted());
  on("session_tree", (running) => running.navigated());
  on("model_select", (running) => running.modelSelected());
  on("agent_end", (running) => running.agentEnded());
  on("agent_settled", (running) => running.settled());
}
