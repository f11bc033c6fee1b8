// Pieces of TypeScript source.

const WIDTH = 112;

/** A doc comment, wrapped, at this indentation. */
export function comment(text, indent = "") {
  const lines = [""];
  for (const word of text.replaceAll("*/", "*\\/").split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (indent.length + longer.length + 3 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

/** What the doc says, then `head`, the lines, indented, and `tail`. */
export function block(doc, head, lines, tail) {
  return `${comment(doc)}${head}\n${lines.map((line) => `  ${line}\n`).join("")}${tail}\n`;
}

/** One line, or two where it would be too long. */
export function folded(indent, head, body) {
  const line = `${indent}${head} ${body}`;
  return line.length <= WIDTH ? `${line}\n` : `${indent}${head}\n${indent}  ${body}\n`;
}
