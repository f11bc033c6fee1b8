// Writes the settings of package.json from ../../spec/schema.json.
//
//   node scripts/settings.js           writes what differs
//   node scripts/settings.js --check   writes nothing; exit code 1 if anything differs
const { readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");

const MANIFEST = path.join(__dirname, "../package.json");
const SCHEMA = path.join(__dirname, "../../../spec/schema.json");

// Where prompts go, which key pays for them, what is kept and what is hidden: no folder that somebody opens may say.
const OF_THE_PERSON = new Set(["models", "embeddings", "store", "redaction"]);
const isOfThePerson = (section, name) => OF_THE_PERSON.has(section) || name === "model";

const COMMAND = {
  "afterturn.command": {
    type: "string",
    default: "",
    scope: "machine",
    order: 0,
    markdownDescription:
      "Path of the `afterturn` executable. Empty: `AFTERTURN_PATH`, `PATH`, a `.venv` or `venv` in the workspace.",
  },
};

const capitalised = (text) => text[0].toUpperCase() + text.slice(1);

/** One setting: what JSON Schema and VS Code agree on, and a description that is a sentence. */
function settingOf(section, name, schema, order) {
  const { description, format, ...rest } = schema;
  const nullable = Array.isArray(rest.type) && rest.type.includes("null");
  return {
    ...rest,
    ...(nullable && !("default" in rest) ? { default: null } : {}),
    ...(isOfThePerson(section, name) ? { scope: "machine" } : {}),
    order,
    markdownDescription: capitalised(description),
  };
}

function sections(definitions) {
  return Object.entries(definitions.Settings.properties).map(([section, { $ref }]) => {
    const { properties } = definitions[$ref.replace("#/$defs/", "")];
    const settings = Object.entries(properties).map(([name, schema], order) => [
      `afterturn.${section}.${name}`,
      settingOf(section, name, schema, order),
    ]);
    return { title: capitalised(section), properties: Object.fromEntries(settings) };
  });
}

const before = readFileSync(MANIFEST, "utf8");
const manifest = JSON.parse(before);
const { $defs } = JSON.parse(readFileSync(SCHEMA, "utf8"));
manifest.contributes.configuration = [{ title: "afterturn", properties: COMMAND }, ...sections($defs)];
const after = `${JSON.stringify(manifest, null, 2)}\n`;
if (after !== before) {
  if (process.argv.includes("--check")) {
    console.error("clients/vscode/package.json is not what spec/schema.json says: run `make generate`");
    process.exit(1);
  }
  writeFileSync(MANIFEST, after);
}
