/** Text in lines of a width, for a screen of character cells. */

const EAST_ASIAN = [
  String.raw`\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf`,
  String.raw`\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6`,
];
/** East Asian wide characters and emoji take two cells. */
const WIDE = new RegExp(String.raw`[${EAST_ASIAN.join("")}]|\p{Extended_Pictographic}`, "u");
const ZERO = /\p{Mark}|\u200d|\ufe0f/u;

export function cells(text: string): number {
  let sum = 0;
  for (const character of text) sum += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return sum;
}

/** At most `most` lines of `width` cells, broken at spaces where there are any; what does not fit ends in "…". */
export function wrap(text: string, width: number, most: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter(Boolean).flatMap((each) => pieces(each, width))) {
    const longer = line ? `${line} ${word}` : word;
    if (cells(longer) <= width) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  if (line) lines.push(line);
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `${head(lines[most - 1] ?? "", width - 1)}…`];
}

function head(text: string, width: number): string {
  let kept = "";
  for (const character of text) {
    if (cells(kept + character) > width) break;
    kept += character;
  }
  return kept;
}

/** A word cut where it is wider than a line, between characters. */
function pieces(word: string, width: number): string[] {
  const cut: string[] = [];
  let piece = "";
  for (const character of word) {
    if (piece && cells(piece + character) > width) {
      cut.push(piece);
      piece = "";
    }
    piece += character;
  }
  return piece ? [...cut, piece] : cut;
}
