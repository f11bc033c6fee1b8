/** Text of models, tools and programs, safe to show on a screen. */

/** Escape sequences; else controls, and marks that hide text or turn it around. */
const UNSAFE = new RegExp(
  String.raw`\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?` +
    String.raw`|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]`,
  "g",
);

/** The text without what a terminal would obey. Line feeds stay, tabs become blanks. */
export function plain(text: string): string {
  return text.replace(/\t/g, " ").replace(UNSAFE, "");
}

/** All of it in one line of at most `most` characters. */
export function plainLine(text: string, most: number): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
