import assert from "node:assert/strict";
import { test } from "node:test";
import { FocusReader, type Seen } from "../src/focus.js";

const FOCUS = "\x1b[I";
const BLUR = "\x1b[O";

const CASES: [name: string, pieces: string[], expected: Seen[]][] = [
  ["focus and blur", [FOCUS, BLUR], ["focus", "blur"]],
  ["both in one piece", [FOCUS + BLUR], ["focus", "blur"]],
  ["split after the escape", ["\x1b", "[I"], ["focus"]],
  ["split before the last byte", ["\x1b[", "O"], ["blur"]],
  ["byte by byte", [..."\x1b[O\x1b[I"], ["blur", "focus"]],
  ["not seen twice", ["\x1b[O", "O"], ["blur", "typed"]],
  ["between keys", [`a${BLUR}b`], ["typed", "blur", "typed"]],
  ["letters", ["hello"], ["typed"]],
  ["a control key", ["\x03"], ["typed"]],
  ["an arrow key", ["\x1b[A"], ["typed"]],
  ["an arrow key in application mode", ["\x1bOA"], ["typed"]],
  ["a key with modifiers", ["\x1b[1;5C", "\x1b[97;5u"], ["typed", "typed"]],
  ["Alt and a letter", ["\x1bb"], ["typed"]],
  ["the same bytes in a paste", ["\x1b[200~see \x1b[O and \x1b[I\x1b[201~"], ["typed"]],
  ["a blur after a paste", ["\x1b[200~x\x1b[201~", BLUR], ["typed", "blur"]],
  ["the cursor's position", ["\x1b[12;40R"], []],
  ["device attributes", ["\x1b[?62;22c", "\x1b[>1;10;0c", "\x1b[=0c"], []],
  ["a mode's state", ["\x1b[?1004;1$y"], []],
  ["keyboard flags", ["\x1b[?7u"], []],
  ["a window's size", ["\x1b[4;600;800t"], []],
  ["a colour, ended by BEL", ["\x1b]11;rgb:1e1e/1e1e/1e1e\x07"], []],
  ["a colour, ended by ESC \\, split", ["\x1b]11;rgb:1e", "1e\x1b", "\\"], []],
  ["a terminal's name", ["\x1bP>|tmux 3.5\x1b\\"], []],
  ["focus right after a reply", [`\x1b]11;x\x1b\\${FOCUS}`], ["focus"]],
  ["the mouse, SGR", ["\x1b[<0;10;20M", "\x1b[<0;10;20m"], []],
  ["the mouse, X10", ["\x1b[M !!", BLUR], ["blur"]],
  ["a blur after Alt and ]", ["\x1b]", "and more", BLUR], ["blur"]],
  ["a blur after Alt and P", ["\x1bP", BLUR], ["blur"]],
  ["a blur after the escape key", ["\x1b", BLUR], ["typed", "blur"]],
  ["a blur after an arrow that was cut off", ["\x1b[", BLUR], ["blur"]],
  ["a blur after a paste of half a string", ["\x1b[200~\x1b]0;title\x1b[201~", BLUR], ["typed", "blur"]],
  ["a blur after a paste of half a sequence", ["\x1b[200~\x1b[\x1b[201~", BLUR], ["typed", "blur"]],
  ["a blur after a paste of half a key", ["\x1b[200~\x1bO\x1b[201~", BLUR], ["typed", "blur"]],
  ["a blur after a paste of half a mouse report", ["\x1b[200~\x1b[M\x1b[201~", BLUR], ["typed", "blur"]],
  ["a paste within a paste", ["\x1b[200~\x1b[200~x\x1b[201~", BLUR], ["typed", "blur"]],
  ["bytes beyond ASCII", ["\u00e6\u00bc\u00a2"], ["typed"]],
];

for (const [name, pieces, expected] of CASES) {
  test(name, () => {
    const reader = new FocusReader();
    assert.deepEqual(pieces.flatMap((piece) => reader.read(piece)), expected);
  });
}
