// JSON Schema to TypeScript types.
import { comment } from "./text.js";

const SIMPLE = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

/** All types of the schema, in its order. */
export function types(schema) {
  return Object.entries(schema.$defs)
    .map(([name, node]) => definition(name, node))
    .join("\n");
}

function definition(name, node) {
  if (node.type !== "object") return `${comment(node.description)}export type ${name} = ${typeOf(node)};\n`;
  const required = new Set(node.required);
  const fields = Object.entries(node.properties).map(([key, field]) => {
    const about = field.description ? comment(describe(field), "  ") : "";
    return `${about}  ${key}${required.has(key) ? "" : "?"}: ${typeOf(field)};\n`;
  });
  return `${comment(node.description)}export interface ${name} {${fields.length ? `\n${fields.join("")}` : ""}}\n`;
}

function describe({ description, default: fallback }) {
  const text = description[0].toUpperCase() + description.slice(1);
  return fallback === undefined ? text : `${text} Default: ${JSON.stringify(fallback)}.`;
}

/** The type of one schema. An object that has no name of its own is open: it may hold anything else too. */
function typeOf(node) {
  if (node.$ref) return node.$ref.replace("#/$defs/", "");
  if ("const" in node) return JSON.stringify(node.const);
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (node.anyOf) return node.anyOf.map(typeOf).join(" | ");
  if (node.type === undefined) return "unknown";
  return [node.type]
    .flat()
    .map((type) => (type === "array" ? arrayOf(node) : type === "object" ? record(node) : simple(type)))
    .join(" | ");
}

function simple(type) {
  if (!SIMPLE[type]) throw new Error(`no TypeScript for type ${type}`);
  return SIMPLE[type];
}

function arrayOf({ items = {} }) {
  const type = typeOf(items);
  return type.includes(" | ") ? `(${type})[]` : `${type}[]`;
}

function record({ properties = {}, additionalProperties }) {
  if (additionalProperties) return `Record<string, ${typeOf(additionalProperties)}>`;
  const fields = Object.entries(properties).map(([key, field]) => `${key}: ${typeOf(field)}; `);
  return `{ ${fields.join("")}[field: string]: unknown }`;
}
