import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isoTime } from "../src/filetimes.js";
import { recapSettings } from "../src/flags.js";
import type { Message } from "../src/host.js";
import { blocks, finishedCalls, text, toolUses } from "../src/messages.js";
import { headerId } from "../src/parent.js";
import { plain, plainLine } from "../src/plain.js";
import { recapLines } from "../src/recap.js";
import { query, recovered } from "../src/recovery.js";
import { limitText, statusLine, tokens } from "../src/status.js";
import { cells, wrap } from "../src/wrapping.js";
import { message, result } from "./entries.js";

function check<T>(name: string, actual: T, expected: T): void {
  test(name, () => assert.deepEqual(actual, expected));
}

check("wrap: one line", wrap("a few words", 20, 3), ["a few words"]);
check("wrap: at spaces", wrap("a few words", 6, 3), ["a few", "words"]);
check("wrap: a long word", wrap("abcdefgh ij", 4, 5), ["abcd", "efgh", "ij"]);
check("wrap: too many lines", wrap("a b c d", 1, 3), ["a", "b", "…"]);
check("wrap: too long in the last line", wrap("aaaa bbbb cccc", 4, 2), ["aaaa", "bbb…"]);
check("wrap: wide characters", wrap("漢字漢字", 4, 5), ["漢字", "漢字"]);
check("wrap: nothing", wrap("  ", 4, 5), []);
check("cells: accents and emoji", [cells("é"), cells("e\u0301"), cells("🚀"), cells("漢")], [1, 1, 2, 2]);
check("recap: at most ten lines", recapLines("word ".repeat(400), 42).length, 10);
check(
  "recap: no line is wider than the screen",
  Math.max(...recapLines("word ".repeat(50), 42).map(cells)) <= 40,
  true,
);

check("tokens", [3, 400, 4000, 399_800, 400_000, 9_000_000].map(tokens), ["1", "100", "1.0k", "100k", "100k", "2.3M"]);
const idle = { on: true, savings: { before: 0, after: 0 }, spend: 0 };
check("status: nothing yet", statusLine(idle), undefined);
check(
  "status: all of it",
  statusLine({ ...idle, on: false, savings: { before: 192_800, after: 36_400 }, capture: "captured", spend: 0.0123 }),
  "afterturn 48.2k → 9.1k · captured · $0.0123 · off",
);

const limit = { scope: "dailyTokens", limit: 9, used: 8, resumesAt: Date.UTC(2026, 0, 2) };
check(
  "a limit: for a day, and for the session",
  [limitText(limit), limitText({ ...limit, scope: "sessionTokens", resumesAt: null })],
  [
    "models.dailyTokens (9) is reached: no model is asked until 2026-01-02 00:00 UTC.",
    "models.sessionTokens (9) is reached: no model is asked in this session.",
  ],
);

check("times keep their nanoseconds", isoTime(1_700_000_000_123_456_789n), "2023-11-14T22:13:20.123456789Z");
check("times with leading zeros", isoTime(1_700_000_000_000_000_007n), "2023-11-14T22:13:20.000000007Z");

const settings = (flags: Record<string, boolean | string>) => recapSettings((name) => flags[name]);
check("flags: none given", settings({}), {});
check(
  "flags: booleans",
  settings({ "recap-disable": true, "recap-disable-focus": true, "recap-during-active": true }),
  { auto: false, focusReporting: false, duringActive: true },
);
check(
  "flags: numbers",
  settings({ "recap-away-seconds": "30", "recap-idle-seconds": "7.5" }),
  { awaySeconds: 30, idleSeconds: 7.5 },
);
check("flags: a model", settings({ "recap-model": "p/m/n" }), { model: "p/m/n" });
for (const odd of ["soon", "", "1e999"]) {
  check(
    `flags: “${odd}” is left to the sidecar`,
    settings({ "recap-away-seconds": odd }) as object,
    { awaySeconds: odd },
  );
}

const record = {
  ref: "t1",
  shortId: "t1",
  toolCallId: "c1",
  label: "c1@3",
  toolName: "bash",
  args: { command: "make" },
  isError: false,
  turnIndex: 0,
  text: "all of it",
  offset: 0,
  totalChars: 9,
  nextOffset: null,
};
check(
  "recovered: a whole original",
  recovered({ records: [record], missing: [] }),
  '`t1` bash {"command":"make"}\nall of it',
);
check(
  "recovered: a page, and what is not there",
  recovered({
    records: [{ ...record, args: null, isError: true, offset: 10, totalChars: 40, nextOffset: 19 }],
    missing: [{ ref: "t9", reason: "unknown", known: "t1..t3" }],
  }),
  "`t1` bash (failed) chars 10-19 of 40 (next offset 19)\nall of it\n\n`t9` is unknown; refs here are t1..t3.",
);
check(
  "recovered: nothing that was looked for, and an empty original",
  ["x", undefined].map((grep) =>
    recovered({ records: [{ ...record, args: null, text: "", totalChars: 0 }], missing: [] }, grep),
  ),
  ["`t1` bash\nNo line holds that text.", "`t1` bash\n"],
);

check("query: refs alone", query({ refs: ["t1", "t2"] }), { refs: ["t1", "t2"], limit: 25_600, imageData: true });
check("query: a page", query({ refs: ["t1"], offset: 9 }), { refs: ["t1"], limit: 51_200, offset: 9 });
check("query: grep", query({ refs: ["t1"], grep: "x" }), { refs: ["t1"], limit: 51_200, grep: "x" });
check("query: what a model fills in", query({ refs: ["t1", "t1"], offset: 0, grep: "" }), query({ refs: ["t1"] }));
const forged = { refs: ["t1"], sessionId: "another", limit: 9e9 };
check("query: nothing that is not the agent's to say", query(forged), query({ refs: ["t1"] }));

const calls = message("assistant", [
  { type: "toolCall", id: "a", name: "read", arguments: {} },
  { type: "toolCall", id: "b", name: "read", arguments: {} },
]).message as Message;
const results = [result("a", "1"), result("b", "2")].map((each) => each.message as Message);
const entryIds = (ids?: string[]) => finishedCalls(calls, results, ids).map(({ entryId }) => entryId);
check("entry ids go with their results", entryIds(["e1", "e2"]), ["e1", "e2"]);
check("entry ids: none, or not of all results", [entryIds(), entryIds(["e2"])].flat(), Array(4).fill(undefined));

const odd = [null, 7, "x", { type: 1 }, { type: "text", text: 5 }, { type: "image", data: 5 }, { type: "toolCall" }];
check("content that is not as it should be", [text(odd), toolUses(odd), blocks(odd, true)], [
  "",
  [{ id: "", name: "", input: undefined }],
  [
    { type: "text", text: "" },
    { type: "image", mimeType: "", bytes: 0, data: "" },
  ],
]);
const resource = { type: "resource", resource: { uri: "x://1", text: "kept" } };
check(
  "a result keeps blocks of other types",
  finishedCalls(calls, [{ role: "toolResult", toolCallId: "a", content: [...odd, resource] }]).map((c) => c.content),
  [[{ type: "text", text: "" }, { type: "image", mimeType: "", bytes: 0, data: "" }, { type: "toolCall" }, resource]],
);
check("no content", [text(undefined), blocks({}, true), blocks("x", true)], ["", [], [{ type: "text", text: "x" }]]);

check(
  "plain: escapes, controls, what hides or turns text",
  plain("\x1b[2Ja\x1b]0;t\x07b\x00\r\u202ec\td\ne"),
  "abc d\ne",
);
check("plain: an escape that never ends", plain("a\x1b]0;b"), "a");
check("plainLine", [plainLine(" a\n b ", 3), plainLine("abcd", 3)], ["a b", "ab…"]);
check("recap: no escapes", recapLines("\x1b[31mred\x1b[0m", 80), ["While you were away: red"]);

function header(text: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "afterturn-"));
  const file = join(folder, "any_name.jsonl");
  writeFileSync(file, text);
  try {
    return headerId(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
check("a session file's id", header('{"type":"session","version":3,"id":"s1","cwd":"/"}\n{"type":"x"}\n'), "s1");
check("no session file", [header(""), header("[]\n"), header('{"type":"x","id":"s1"}\n')], Array(3).fill(undefined));
check("no file", headerId("/nowhere/at/all.jsonl"), undefined);
