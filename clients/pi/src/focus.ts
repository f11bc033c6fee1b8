/**
 * Whether the person looks at the terminal, and whether they type, read from what the terminal sends to stdin.
 *
 * pi has no event for it. Input is watched beside pi's own listener and never consumed.
 */
export type Seen = "focus" | "blur" | "typed";

const ESCAPE = "\x1b";
/** Introducers of strings that end with BEL or ESC \: OSC, DCS, SOS, PM, APC. Terminals answer questions with them. */
const STRINGS = "]PX^_";

type State = "ground" | "escape" | "sequence" | "key" | "string" | "stringEscape" | "mouse";

/** Cuts input into sequences, which may arrive in any pieces. */
export class FocusReader {
  #state: State = "ground";
  #sequence = "";
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
    switch (this.#state) {
      case "ground":
        if (character !== ESCAPE) return "typed";
        this.#state = "escape";
        return undefined;
      case "escape":
        return this.#escaped(character);
      case "sequence":
        this.#sequence += character;
        return character >= "@" && character <= "~" ? this.#ended() : undefined;
      case "key":
        this.#state = "ground";
        return "typed";
      case "mouse":
        if (--this.#mouseBytes === 0) this.#state = "ground";
        return undefined;
      default:
        this.#inString(character);
        return undefined;
    }
  }

  #escaped(character: string): Seen | undefined {
    this.#sequence = "";
    if (character === ESCAPE) return "typed";
    if (character === "[") this.#state = "sequence";
    else if (character === "O") this.#state = "key";
    else this.#state = STRINGS.includes(character) ? "string" : "ground";
    return this.#state === "ground" ? "typed" : undefined;
  }

  #inString(character: string): void {
    const ends = character === "\x07" || (this.#state === "stringEscape" && character === "\\");
    this.#state = ends ? "ground" : character === ESCAPE ? "stringEscape" : "string";
  }

  #ended(): Seen | undefined {
    const sequence = this.#sequence;
    this.#state = "ground";
    if (sequence === "M") [this.#state, this.#mouseBytes] = ["mouse", 3];
    if (sequence === "200~") this.#pasted = true;
    if (sequence === "201~") this.#pasted = false;
    if (!this.#pasted && sequence === "I") return "focus";
    if (!this.#pasted && sequence === "O") return "blur";
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
    if (report) process.stdout.write(REPORT);
  }

  /** `quit`: pi ends, so the terminal goes back to how it was. On a reload the next instance needs the reports. */
  stop(quit: boolean): void {
    process.stdin.removeListener("data", this.#listener);
    if (quit && this.#reporting) process.stdout.write(STOP_REPORTING);
  }
}
