// Compiles src/ twice: to dist/esm for `import`, to dist/cjs for `require` (which cannot load ESM on Node 20).
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const tsc = createRequire(import.meta.url)
  .resolve("typescript/package.json")
  .replace("package.json", "bin/tsc");

rmSync(new URL("dist", root), { recursive: true, force: true });
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
  const { status } = spawnSync(process.execPath, [tsc, "-p", project], { cwd: fileURLToPath(root), stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
mkdirSync(new URL("dist/cjs", root), { recursive: true });
writeFileSync(new URL("dist/cjs/package.json", root), '{ "type": "commonjs" }\n');
