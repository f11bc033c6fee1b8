/** One session of pi, from its start to its end: what happens in it goes to the sidecar, what comes back is applied. */
import type { Afterturn, CondenseItem, ModelInfo, Recap, RecapContext, SavedRecap, Usage } from "@afterturn/client";
import { hasHistory, isFreshFork, modelInfo, recapContext, revision, savedRecap, treeOf } from "./branch.js";
import { CAPTURED_ENTRY, piecesOf, SENT_ENTRY, sentUpTo } from "./capture.js";
import { Capturing } from "./capturing.js";
import { CONDENSED_ENTRY, Condensing, fromItems, fromPlan } from "./condensing.js";
import { type Seen, TerminalFocus } from "./focus.js";
import type { Boundary, Context, ContextEdit, EndReason, Message, Pi, StartReason, TurnEnd } from "./host.js";
import { plainLine } from "./plain.js";
import { RecapView } from "./recap.js";
import { RECOVERY_TOOL } from "./recovery.js";
import { Sidecar, within } from "./sidecar.js";
import { open, starting } from "./starting.js";
import { type Standing, statusLine } from "./status.js";
import { Turns } from "./turns.js";

/** A prompt that was given with the command line arrives within this time after the start. */
const INITIAL_PROMPT_MS = 300;
/**
 * How long the end of a session waits for the last episode to be on disk, and for a sign of life. An episode that is
 * late is on its way all the same, or is sent when the session is opened again.
 */
const CAPTURE_PATIENCE_MS = 80;
const GOODBYE_PATIENCE_MS = 500;
/** The same where pi goes on and nobody waits: a busy machine must not cost the work. */
const FAREWELL_PATIENCE_MS = 60_000;
const TYPED_EVERY_MS = 1_000;
const STATUS = "afterturn";
/** Of a notice, in chars; it may quote a program that writes anything. */
const MAX_NOTICE = 300;

export class Session {
  readonly id: string;
  readonly sidecar: Sidecar;
  /** Whether a person sits before pi's own screen; otherwise a front end does, or nobody. */
  readonly inTerminal: boolean;
  readonly #condensing: Condensing;
  readonly #turns: Turns;
  readonly #capturing: Capturing;
  readonly #view: RecapView;
  readonly #focus = new TerminalFocus((seen) => this.#seen(seen));
  #stopReason = "";
  /** Whether pi says when the agent has settled. */
  #settles = false;
  #typedAt = 0;
  #on = true;
  #over = false;
  #troubled = false;
  readonly #warned = new Set<string>();
  #captureState: Standing["capture"];
  #spend = 0;
  /** Called when work begins. */
  #begun: () => void = () => {};

  /** `context`: the newest that pi gave; older ones go stale. */
  constructor(
    private readonly pi: Pi,
    public context: Context,
    reason: StartReason,
    reportFocus: boolean,
  ) {
    const branch = context.sessionManager.getBranch();
    const id = context.sessionManager.getSessionId();
    this.id = id;
    this.inTerminal = context.hasUI && context.mode !== "rpc" && TerminalFocus.possible;
    const begun = new Promise<true>((resolve) => (this.#begun = () => resolve(true)));
    const reopened = context.hasUI && hasHistory(branch) && reason !== "new" && reason !== "reload";
    this.sidecar = new Sidecar(
      (signal) => starting(pi, this, reason, reopened ? within(INITIAL_PROMPT_MS, begun) : undefined, signal),
      (error) => this.whileRunning(() => this.notice(error)),
    );
    this.#view = new RecapView(pi);
    this.#condensing = new Condensing(
      (replacements) => pi.appendEntry(CONDENSED_ENTRY, { replacements }),
      context.sessionManager.buildSessionProjection !== undefined,
    );
    this.#turns = new Turns(id, this.sidecar, (items) => this.whileRunning(() => this.condensed(items, null)));
    this.#capturing = new Capturing(
      context.cwd,
      this.sidecar,
      () => this.whileRunning(() => this.context.sessionManager.getBranch()) ?? [],
      (branch) =>
        this.whileRunning(() => piecesOf({ branch, all: this.context.sessionManager.getEntries() }, id)) ?? [],
      ({ upTo, episode }) =>
        this.whileRunning(() => pi.appendEntry(CAPTURED_ENTRY, { upTo, episodeId: episode.id })),
      ({ upTo }, { message }) =>
        this.whileRunning(() => {
          pi.appendEntry(CAPTURED_ENTRY, { upTo });
          this.notice(`work was not captured: ${message}`);
        }),
    );
    this.#restore();
    this.#applyPlan();
    if (reason === "fork" || isFreshFork(context.sessionManager)) this.whileRunning(() => this.#leaveToParent());
    // What the last end of the session could not wait for. Where it was taken all the same, it is not taken twice.
    this.#capture();
    if (this.inTerminal) this.#focus.start(reportFocus);
    this.#showStatus();
  }

  // -- what pi tells

  submitted(): void {
    this.#begun();
    this.#view.clear(this.context);
    this.#tell((client) => client.notify("recap/onInput", { sessionId: this.id, kind: "submitted" }));
  }

  agentStarted(): void {
    this.#begun();
    this.#view.clear(this.context);
    this.#tell((client) => client.notify("recap/onAgentStart", { sessionId: this.id }));
  }

  turnStarted(): void {
    this.#tell((client) => client.notify("recap/onTurnStart", { sessionId: this.id }));
  }

  messageEnded(message: Message): void {
    this.#turns.heard(message);
  }

  /** Replacements for the messages of the next request, in place. */
  swap(messages: Message[]): void {
    this.#condensing.swap(messages);
  }

  turnEnded(event: TurnEnd): void {
    this.#settles ||= event.entries !== undefined;
    this.#stopReason = event.message.stopReason ?? "";
    this.#condensing.measure(event.toolResults);
    this.#told("turn");
    this.#turns.ended(event, this.context.getContextUsage(), this.#on && this.recoverable);
  }

  /** What pi should append at a boundary, after what others proposed; undefined where there is nothing to append. */
  proposal(boundary: Boundary): { entries: unknown[] } | undefined {
    const drafts: ContextEdit[] = boundary.entries ? this.#condensing.drafts(boundary) : [];
    if (!drafts.length) return undefined;
    this.#changed("contextEdit");
    return { entries: [...(boundary.entries ?? []), ...drafts] };
  }

  /** The older pi does not say when no retry will follow: there, work that failed may still go on. */
  agentEnded(): void {
    if (this.#settles) return;
    this.#told("settled");
    if (this.#stopReason !== "error") this.#capture();
  }

  settled(): void {
    this.#told("settled");
    this.#capture();
  }

  compacted(): void {
    this.#changed("compaction");
  }

  navigated(): void {
    this.#restore();
    this.#view.clear(this.context);
    this.#changed("navigate");
  }

  modelSelected(): void {
    const model = this.model();
    this.#tell((client) =>
      client.session.changed({ sessionId: this.id, kind: "model", ...(model ? { model } : {}) }),
    );
  }

  /** pi leaves this session. Waits a moment for what would be lost, and for nothing else. */
  async end(reason: EndReason): Promise<void> {
    if (this.inTerminal) this.#focus.stop(reason === "quit");
    this.#capture();
    // By then what is to be captured has been read, and sent where the sidecar is there: an answer to what is asked
    // after it tells that it has arrived. A sidecar that is still starting is not waited for.
    await new Promise(setImmediate);
    const quits = reason === "quit";
    const answers = this.sidecar.answers(quits ? GOODBYE_PATIENCE_MS : FAREWELL_PATIENCE_MS, !quits);
    if (this.sidecar.started) {
      await within(CAPTURE_PATIENCE_MS, this.#capturing.settled);
      this.whileRunning(() => this.#markSent());
    }
    if (!quits) this.#view.clear(this.context);
    this.#over = true;
    if (quits) return this.sidecar.leave(this.id, true, await answers);
    // pi goes on, and nobody waits: the sidecar may start, and finish what it was given.
    void answers.then(async (alive) => {
      if (alive) await within(FAREWELL_PATIENCE_MS, this.#capturing.settled, true);
      this.sidecar.leave(this.id, false, alive);
    });
  }

  /**
   * Do what an answer or an event of the sidecar asks for, unless pi has left the session: its context is stale then,
   * and an error here would be nobody's and end pi.
   */
  whileRunning<T>(act: () => T): T | undefined {
    if (this.#over) return undefined;
    try {
      return act();
    } catch (error) {
      this.notice(error);
      return undefined;
    }
  }

  // -- what the sidecar tells

  /** A new process knows nothing of the session. */
  restarted(client: Afterturn): void {
    if (!this.#on) return;
    open(client, this, "reload", false);
    this.#turns.resend();
  }

  condensed(items: CondenseItem[], usage: Usage | null): void {
    this.#condensing.take(fromItems(items));
    this.#paid(usage);
  }

  recapReady(recap: Recap): void {
    this.#view.ready(recap, this.context);
    this.#paid(recap.usage);
  }

  recapCleared(recapId: string): void {
    this.#view.clear(this.context, recapId);
  }

  captured(capture: Standing["capture"], usage: Usage | null): void {
    this.#captureState = capture;
    this.#paid(usage);
  }

  /** Say that something does not work: once in a session, and only where a person can see it. */
  notice(error: unknown): void {
    if (this.#troubled) return;
    this.#troubled = true;
    this.#notify(error instanceof Error ? error.message : String(error));
  }

  /** Say what the sidecar, which works, warns of: once of each kind, since wrong settings come many at once. */
  warning(message: string, kind = message): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#notify(message.replace(/^afterturn: /, ""));
  }

  recapContext(): RecapContext {
    return recapContext(this.context.sessionManager.getBranch(), this.model());
  }

  model(): ModelInfo | undefined {
    const { model, modelRegistry } = this.context;
    return model && modelInfo(model, modelRegistry.getAvailable());
  }

  savedRecap(): SavedRecap | undefined {
    return savedRecap(this.context.sessionManager.getBranch());
  }

  // -- what a person asks for

  /** Whether the agent can ask for originals; nothing is condensed where it cannot, as after `--tools read`. */
  get recoverable(): boolean {
    return this.pi.getActiveTools().includes(RECOVERY_TOOL);
  }

  get standing(): Standing {
    return {
      on: this.#on,
      savings: this.#condensing.savings,
      spend: this.#spend,
      ...(this.#captureState ? { capture: this.#captureState } : {}),
    };
  }

  /** Off: nothing more is sent. What was replaced stays so: bringing it all back would cost more than it ever saved. */
  async turn(on: boolean): Promise<string> {
    if (on && !this.#on) this.sidecar.tell((client) => open(client, this, "reload", false));
    if (!on && this.#on) this.sidecar.tell((client) => client.notify("session/close", { sessionId: this.id }));
    this.#on = on;
    this.#view.clear(this.context);
    this.#showStatus();
    return on ? "afterturn is on in this session." : "afterturn is off in this session; what is condensed stays so.";
  }

  async focused(focused: boolean, from: string): Promise<string> {
    this.#tell((client) => client.notify("recap/onFocus", { sessionId: this.id, focused, source: from }));
    return "";
  }

  // --

  #restore(): void {
    const tree = treeOf(this.context.sessionManager);
    this.#turns.restore(tree.branch);
    this.#condensing.restore(tree);
  }

  /** What an earlier process was given and could not keep in the session. */
  #applyPlan(): void {
    void this.sidecar
      .ask((client) => client.condense.plan({ sessionId: this.id }))
      .then((plan) => plan && this.whileRunning(() => this.#condensing.take(fromPlan(plan))));
  }

  /** Off means that the sidecar hears nothing. */
  #tell(message: (client: Afterturn) => void): void {
    if (this.#on) this.sidecar.tell(message);
  }

  #told(phase: "turn" | "settled"): void {
    const turn = { sessionId: this.id, phase, stopReason: this.#stopReason };
    this.#tell((client) => client.notify("recap/onTurnEnd", turn));
  }

  #capture(): void {
    if (this.#on) this.#capturing.capture();
  }

  /** What a fork was given of its parent's work is the parent's to hand over, and so not work of this session. */
  #leaveToParent(): void {
    const upTo = piecesOf(treeOf(this.context.sessionManager), this.id).at(-1)?.upTo;
    if (upTo !== undefined) this.pi.appendEntry(CAPTURED_ENTRY, { upTo });
  }

  /** Where the piece that is under way ends, for the next start of this session. */
  #markSent(): void {
    const upTo = this.#capturing.unsure?.upTo;
    if (upTo === undefined || sentUpTo(treeOf(this.context.sessionManager)).includes(upTo)) return;
    this.pi.appendEntry(SENT_ENTRY, { upTo });
  }

  #changed(kind: string): void {
    const mark = revision(this.context.sessionManager.getBranch());
    this.#tell((client) => client.session.changed({ sessionId: this.id, kind, revision: mark }));
  }

  #notify(message: string): void {
    if (this.context.hasUI) this.context.ui.notify(`afterturn: ${plainLine(message, MAX_NOTICE)}`, "warning");
  }

  #seen(seen: Seen): void {
    if (seen !== "typed") return void this.focused(seen === "focus", "terminal");
    const now = Date.now();
    if (now - this.#typedAt < TYPED_EVERY_MS) return;
    this.#typedAt = now;
    this.#tell((client) => client.notify("recap/onInput", { sessionId: this.id, kind: "typed" }));
  }

  #paid(usage: Usage | null): void {
    this.#spend += usage?.cost ?? 0;
    this.#showStatus();
  }

  #showStatus(): void {
    if (this.context.hasUI) this.context.ui.setStatus(STATUS, statusLine(this.standing));
  }
}
