// The hands on a VS Code window: takes orders, one JSON object a line, and answers each in its turn.
//
//   {"verb": "see", "args": [".tab"]}  ->  {"result": "notes.md"} or {"problem": "..."}
//
// node driver.js CHROMIUM PROFILE URL PATIENCE_MS; the profile is a folder that the browser may fill.
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const { chromium } = require(require.resolve("playwright-core", { paths: [process.env.VSCODE_HOST] }));

const [executable, profile, url, patience] = process.argv.slice(2);
const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update", "--window-size=1280,800"],
  ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
];

/** What a person does with a window, and what they see of it. Selectors are Playwright's. */
function handsOn(page, elsewhere) {
  const first = (selector) => page.locator(selector).first();
  return {
    click: (selector, ...modifiers) => first(selector).click({ modifiers }),
    hover: (selector) => first(selector).hover(),
    press: (keys) => page.keyboard.press(keys),
    type: (text) => page.keyboard.type(text),
    see: async (selector) => {
      await first(selector).waitFor({ state: "visible" });
      return first(selector).innerText();
    },
    exists: (selector) => first(selector).waitFor({ state: "attached" }),
    lose: (selector) => first(selector).waitFor({ state: "hidden" }),
    texts: (selector) => page.locator(selector).allInnerTexts(),
    count: (selector) => page.locator(selector).count(),
    leave: () => elsewhere.bringToFront(),
    comeBack: () => page.bringToFront(),
    photograph: async (path) => void (await page.screenshot({ path })),
    close: () => page.close({ runBeforeUnload: true }),
  };
}

/** Playwright's own way to start a browser tells every page that it has the focus: here it shall be told the truth. */
async function browse() {
  const child = spawn(executable, FLAGS, { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of readline.createInterface({ input: child.stderr })) {
    const found = /DevTools listening on (\S+)/.exec(line);
    if (found) {
      child.stderr.resume();
      return { child, browser: await chromium.connectOverCDP(found[1], { noDefaults: true }) };
    }
  }
  throw new Error("the browser ended at once");
}

async function main() {
  const { child, browser } = await browse();
  try {
    const [context] = browser.contexts();
    context.setDefaultTimeout(Number(patience));
    const elsewhere = context.pages()[0] ?? (await context.newPage());
    const page = await context.newPage();
    await page.goto(url);
    const hands = handsOn(page, elsewhere);
    for await (const line of readline.createInterface({ input: process.stdin })) {
      const { verb, args } = JSON.parse(line);
      const answer = await hands[verb](...args).then(
        (result) => ({ result: result ?? null }),
        (problem) => ({ problem: String(problem) }),
      );
      process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  } finally {
    child.kill();
  }
}

main().then(
  () => process.exit(0),
  (problem) => {
    console.error(problem);
    process.exit(1);
  },
);
