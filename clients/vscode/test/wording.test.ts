import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, counted, fenced, head, reasonWhy, size, withoutLinks } from "../src/wording.js";

function check(name: string, got: string, expected: string): void {
  test(`wording: ${name}`, () => assert.equal(got, expected));
}

check("head of a short text", head("  two\n\n words "), "two words");
check("head of a text as long as allowed", head("abcde", 5), "abcde");
check("head of a longer one", head("abcdef", 5), "abcd…");
check("head cuts no character in two", head("😀😀😀😀", 3), "😀😀…");
check("head of nothing", head(""), "");
check("just now", ago(1000, 60_999), "just now");
check("a clock that is ahead", ago(5000, 1000), "just now");
check("a minute", ago(0, 60_000), "1 min ago");
check("hours", ago(0, 7_200_000), "2 h ago");
check("days", ago(0, 3 * 86_400_000), "3 d ago");
check("one", counted(1, "step"), "1 step");
check("none", counted(0, "step"), "0 steps");
check("bytes", size(999), "999 bytes");
check("kilobytes", size(1500), "1.5 kB");
check("megabytes", size(2_340_000), "2.3 MB");
check("a fence", fenced("a"), "```\na\n```");
check("a fence that its text cannot close", fenced("```\nx\n````", "md"), "`````md\n```\nx\n````\n`````");
check("a link is words", withoutLinks("[go](command:x) and [a](https://b)"), "[go] (command:x) and [a] (https://b)");
check("other brackets stay", withoutLinks("a[0] (b) f(x)[1]"), "a[0] (b) f(x)[1]");
check("a reason", reasonWhy("noContext"), "nothing finished is known of this session");
check("a reason of a later version", reasonWhy("moonPhase"), "moonPhase");
check("no reason", reasonWhy(null), "there is nothing to say");
