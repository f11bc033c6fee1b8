/** pi's flags for the recap, and the settings they stand for. */
import type * as afterturn from "@afterturn/client";
import type { Flag, Pi } from "./host.js";

const FLAGS = {
  "recap-away-seconds": {
    type: "string",
    description: "Seconds away from the terminal before a recap is drafted (90).",
  },
  "recap-idle-seconds": {
    type: "string",
    description: "Seconds of quiet before one where the terminal does not report focus (120).",
  },
  "recap-disable-focus": {
    type: "boolean",
    description: "Do not ask the terminal for focus reports; the idle time still counts.",
  },
  "recap-during-active": { type: "boolean", description: "Draft recaps while the agent is working, too." },
  "recap-disable": { type: "boolean", description: "No recaps by themselves; /recap still works." },
  "recap-model": {
    type: "string",
    description: "The model for recaps, as provider/id; otherwise a cheap one of the session's provider.",
  },
} satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

export function registerFlags(pi: Pi): void {
  for (const [name, flag] of Object.entries(FLAGS)) pi.registerFlag(name, flag);
}

/** Only flags that were given: what is left out stays as the person's settings file has it. */
export function recapSettings(flag: (name: FlagName) => boolean | string | undefined): afterturn.RecapSettings {
  const settings: Record<string, unknown> = {};
  if (flag("recap-disable") === true) settings.auto = false;
  if (flag("recap-disable-focus") === true) settings.focusReporting = false;
  if (flag("recap-during-active") === true) settings.duringActive = true;
  if (flag("recap-model")) settings.model = flag("recap-model");
  if (flag("recap-away-seconds") !== undefined) settings.awaySeconds = seconds(flag("recap-away-seconds"));
  if (flag("recap-idle-seconds") !== undefined) settings.idleSeconds = seconds(flag("recap-idle-seconds"));
  return settings;
}

/** What is no number goes as it is: the sidecar reports it and uses its default. */
function seconds(value: boolean | string | undefined): unknown {
  const number = Number(value);
  return typeof value === "string" && value.trim() && Number.isFinite(number) ? number : value;
}
