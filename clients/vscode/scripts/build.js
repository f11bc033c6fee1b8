// `build`: the extension and all it needs as one file, dist/extension.js, and the licences of what is in it beside.
// `build test`: each test file with what it tests.
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");

const root = path.dirname(__dirname);
const SHARED = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "cjs",
  external: ["vscode"],
  logLevel: "warning",
};

/** The packages that a bundle was made of, by their folders. */
function packagesIn({ inputs }) {
  const folders = Object.keys(inputs).map((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

function notice(folder) {
  const file = readdirSync(path.join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence file`);
  return `${folder.replace("node_modules/", "")}\n\n${readFileSync(path.join(root, folder, file), "utf8").trim()}\n`;
}

async function buildExtension() {
  // VS Code 1.91, the oldest that the manifest allows, runs extensions in Node 20.
  const options = { entryPoints: ["src/extension.ts"], outdir: "dist", target: "node20", minify: true, metafile: true };
  const { metafile } = await esbuild.build({ ...SHARED, ...options });
  const rule = `\n${"-".repeat(80)}\n\n`;
  writeFileSync(path.join(root, "dist/NOTICES.txt"), packagesIn(metafile).map(notice).join(rule));
}

async function buildTests() {
  const files = readdirSync(path.join(root, "test")).filter((name) => name.endsWith(".test.ts"));
  await esbuild.build({ ...SHARED, entryPoints: files.map((name) => `test/${name}`), outdir: "dist/test" });
}

const building = process.argv[2] === "test" ? buildTests() : buildExtension();
building.catch((problem) => {
  console.error(String(problem));
  process.exit(1);
});
