/** What either line of pi gives is what clients/pi/src/host.ts says: a mistake there does not compile here. */
import type * as newer from "@earendil-works/pi-coding-agent";
import type * as older from "@mariozechner/pi-coding-agent";
import type { Context, Events, Pi } from "../../../../clients/pi/src/host.js";

/** Compiles where a `Real` can be given for a `Declared`. */
type Gives<Real extends Declared, Declared> = Real;

// `on` is overloaded there and generic here; its events and its context are compared one by one.
export type Apis = [
  Gives<newer.ExtensionAPI, Omit<Pi, "on">>,
  Gives<older.ExtensionAPI, Omit<Pi, "on">>,
  Gives<newer.ExtensionContext, Context>,
  Gives<older.ExtensionContext, Context>,
];

export type NewerEvents = [
  Gives<newer.SessionStartEvent, Events["session_start"]>,
  Gives<newer.SessionShutdownEvent, Events["session_shutdown"]>,
  Gives<newer.InputEvent, Events["input"]>,
  Gives<newer.ContextEvent, Events["context"]>,
  Gives<newer.TurnEndEvent, Events["turn_end"]>,
  Gives<newer.AgentEndEvent, Events["agent_end"]>,
  Gives<newer.AgentBeforeSettleEvent, Events["agent_before_settle"]>,
  Gives<newer.AgentSettledEvent, Events["agent_settled"]>,
];

export type OlderEvents = [
  Gives<older.SessionStartEvent, Events["session_start"]>,
  Gives<older.SessionShutdownEvent, Events["session_shutdown"]>,
  Gives<older.InputEvent, Events["input"]>,
  Gives<older.ContextEvent, Events["context"]>,
  Gives<older.TurnEndEvent, Events["turn_end"]>,
  Gives<older.AgentEndEvent, Events["agent_end"]>,
];
