// Opens a page as a person would, does what a person would do, and prints what there was to see, as JSON.
// node look.js PAGE WIDTH light|dark SCREENSHOT
"use strict";
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

const [page, width, colorScheme, screenshot] = process.argv.slice(2);
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

async function look(tab) {
  const seen = { requests: [], console: [], errors: [], widths: {} };
  tab.on("request", (request) => seen.requests.push(request.url()));
  tab.on("console", (message) => seen.console.push(message.text()));
  tab.on("pageerror", (error) => seen.errors.push(String(error)));
  await tab.goto(pathToFileURL(page).href);
  const scrolled = () => tab.evaluate(() => document.documentElement.scrollWidth);
  seen.widths.closed = await scrolled();
  seen.background = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  seen.ink = await tab.evaluate(() => getComputedStyle(document.body).color);

  const chart = tab.locator(".chart").first();
  const box = await chart.boundingBox();
  await chart.hover({ position: { x: box.width * 0.5, y: 60 } });
  seen.tip = await tab.locator(".tip").first().innerText();
  await tab.mouse.move(0, 0);
  await tab.keyboard.press("Tab");
  seen.focused = await tab.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return { element: document.activeElement.className, outline: `${outlineStyle} ${outlineWidth}` };
  });
  await tab.keyboard.press("ArrowRight");
  await tab.keyboard.press("ArrowRight");
  seen.nextTip = await tab.locator(".tip").first().innerText();

  await tab.keyboard.press("Tab");
  seen.markName = await tab.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await tab.keyboard.press("Enter");
  seen.target = await tab.evaluate(() => document.querySelector(":target")?.innerText);

  seen.summaries = await tab.locator("details").count();
  const first = tab.locator("details").first();
  seen.hiddenBefore = !(await first.locator(".was").isVisible());
  await first.locator("summary").focus();
  await tab.keyboard.press("Enter");
  seen.kept = await first.locator(".kept pre").innerText();
  seen.was = await first.locator(".was").innerText();
  seen.shownAfter = await first.locator(".was").isVisible();
  for (const summary of (await tab.locator("details > summary").all()).slice(1)) await summary.click();
  seen.widths.open = await scrolled();
  seen.pwned = await tab.evaluate(() => window.pwned ?? null);
  await tab.mouse.move(0, 0);
  await tab.screenshot({ path: screenshot, fullPage: true });

  await tab.emulateMedia({ media: "print" });
  seen.cutInPrint = await tab.evaluate(() =>
    [...document.querySelectorAll("details[open] pre")].filter((pre) => pre.scrollHeight > pre.clientHeight + 1).length);
  return seen;
}

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
  try {
    const tab = await browser.newPage({ viewport: { width: Number(width), height: 800 }, colorScheme });
    tab.setDefaultTimeout(20_000);
    process.stdout.write(JSON.stringify(await look(tab)));
  } finally {
    await browser.close();
  }
})();
