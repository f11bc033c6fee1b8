/**
 * Whether the person looks at the terminal, and whether they type, read from what the terminal sends to stdin.
 *
 * pi has no event for it. Input is watched beside pi's own listener and never consumed.
 */
export type Seen = "focus" | "blur" | "typed";

const ESCAPE = "\x1b";
const BEL = "\x07";
/** Introducers of strings that end with BEL or ESC \: OSC, DCS, SOS, PM, APC. Terminals answer questions with them. */
const STRINGS = "]PX^_";

type State = "ground" | "escape" | "sequence" | "key" | "string" | "mouse";

/**
 * Cuts input into sequences, which may arrive in any pieces.
 *
 * An escape begins a sequence wherever it comes: what a person types or pastes can be the head of one that never ends,
 * and must not swallow what the terminal says later.
 */
export class FocusReader {
  #state: State = "ground";
  /** What follows the introducer; that of a string is not kept. */
  #sequence = "";
  #inString = false;
  #pasted = false;
  #mouseBytes = 0;

  /** What this piece of input shows, repeats of "typed" left out. */
  read(input: string): Seen[] {
    const seen: Seen[] = [];
    for (const character of input) {
      const found = this.#step(character);
      if (found && !(found === "typed" && seen.at(-1) === "typed")) seen.push(found);
    }
    return seen;
  }

  #step(character: string): Seen | undefined {
    if (character === ESCAPE) return this.#begin();
    switch (this.#state) {
      case "ground":
        return "typed";
      case "escape":
        return this.#introduced(character);
      case "sequence":
        this.#sequence += character;
        return character >= "@" && character <= "~" ? this.#ended() : undefined;
      case "key":
        this.#state = "ground";
        return "typed";
      case "mouse":
        if (--this.#mouseBytes === 0) this.#state = "ground";
        return undefined;
      case "string":
        if (character === BEL) this.#state = "ground";
        return undefined;
    }
  }

  #begin(): Seen | undefined {
    const alone = this.#state === "escape" && !this.#inString;
    this.#inString = this.#state === "string";
    this.#state = "escape";
    return alone ? "typed" : undefined;
  }

  #introduced(character: string): Seen | undefined {
    this.#sequence = "";
    if (character === "[") this.#state = "sequence";
    else if (character === "O") this.#state = "key";
    else this.#state = STRINGS.includes(character) ? "string" : "ground";
    const endsString = this.#inString && character === "\\";
    return this.#state === "ground" && !endsString ? "typed" : undefined;
  }

  #ended(): Seen | undefined {
    const sequence = this.#sequence;
    this.#state = "ground";
    if (sequence === "200~") this.#pasted = true;
    if (sequence === "201~") this.#pasted = false;
    if (this.#pasted) return "typed";
    if (sequence === "M") [this.#state, this.#mouseBytes] = ["mouse", 3];
    if (sequence === "I") return "focus";
    if (sequence === "O") return "blur";
    return isReply(sequence) ? undefined : "typed";
  }
}

/** Answers to questions about cursor, device, modes and window, and what the mouse does. */
function isReply(sequence: string): boolean {
  return /^(?:M|<[\d;]*[Mm]|[\d;]+R|[?>=][\d;]*[a-zA-Z]|\?[\d;]*\$y|[\d;]*[nt])$/.test(sequence);
}

const REPORT = `${ESCAPE}[?1004h`;
const STOP_REPORTING = `${ESCAPE}[?1004l`;

/** Focus reporting of the terminal that this process runs in. */
export class TerminalFocus {
  readonly #reader = new FocusReader();
  readonly #listener: (data: Buffer | string) => void;
  readonly #ask = (): unknown => process.stdout.write(REPORT);
  readonly #stopAsking = (): unknown => process.stdout.write(STOP_REPORTING);
  #reporting = false;

  constructor(tell: (seen: Seen) => void) {
    this.#listener = (data) => {
      const input = typeof data === "string" ? data : data.toString("latin1");
      this.#reader.read(input).forEach(tell);
    };
  }

  static get possible(): boolean {
    return process.stdin.isTTY === true && process.stdout.isTTY === true;
  }

  /** `report`: ask the terminal for focus events too. Without, only typing is seen. */
  start(report: boolean): void {
    // Unlike `on`, this does not set stdin flowing: keys typed before pi listens are pi's.
    process.stdin.prependListener("data", this.#listener);
    this.#reporting = report;
    if (!report) return;
    this.#ask();
    // pi stops reading when it lends the terminal to a shell (Ctrl+Z) or an editor, which would take reports for keys.
    process.stdin.on("pause", this.#stopAsking);
    process.stdin.on("resume", this.#ask);
  }

  /** `quit`: pi ends, so the terminal goes back to how it was. On a reload the next instance needs the reports. */
  stop(quit: boolean): void {
    process.stdin.removeListener("data", this.#listener);
    process.stdin.removeListener("pause", this.#stopAsking);
    process.stdin.removeListener("resume", this.#ask);
    if (quit && this.#reporting) this.#stopAsking();
  }
}
