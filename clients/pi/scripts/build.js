// `build`: the extension and the client in it as one file, so that pi loads it from the folder and nothing is installed.
// CommonJS, because pi's loader leaves that to Node, while it would rewrite a module first: a second at a cold start.
// `build test`: each test file with what it tests.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tests = process.argv[2] === "test";
const files = readdirSync(join(root, "test")).filter((name) => name.endsWith(".test.ts"));

await build({
  absWorkingDir: root,
  entryPoints: tests ? files.map((name) => `test/${name}`) : { afterturn: "src/extension.ts" },
  outdir: tests ? "dist/test" : "dist",
  outExtension: tests ? {} : { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: tests ? "esm" : "cjs",
  footer: tests ? {} : { js: "module.exports = module.exports.default;" },
  logLevel: "warning",
});
