// The spec's table of methods to TypeScript: maps from names to types, and the class with a function for each method.
import { block, comment, folded } from "./text.js";

/** The pages of the spec that have another name than their noun. */
const PAGES = { afterturn: "service" };

const ABOUT_METHODS =
  "The server's methods, by noun. One that is answered gives a promise; one that is not is sent and forgotten.";

const ABSTRACT = `\
  abstract request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options?: CallOptions,
  ): Promise<Requests[M]["result"]>;

  abstract notify<M extends keyof Notifications>(method: M, params: Notifications[M]): void;
`;

export function methods(meta, schema) {
  return [
    'import type { CallOptions } from "./call.js";\nimport type * as t from "./protocol.js";\n',
    ...maps(meta),
    ...constants(meta),
    `${comment(ABOUT_METHODS)}export abstract class Methods {\n${ABSTRACT}\n${nouns(meta, schema).join("\n")}}\n`,
  ].join("\n");
}

function maps(meta) {
  const requests = meta.methods.filter(({ kind }) => kind !== "notification");
  const notifications = meta.methods.filter(({ kind }) => kind !== "request");
  const call = ({ name, params, result }) => `"${name}": { params: t.${params}; result: t.${result} };`;
  const message = ({ name, params }) => `"${name}": t.${params};`;
  const map = (name, doc, lines) => block(doc, `export interface ${name} {`, lines, "}");
  return [
    map("Requests", "Every request, with its params and its result.", requests.map(call)),
    map("Notifications", "Everything that can be sent without an answer.", notifications.map(message)),
    map("Events", "Every notification from the server.", meta.events.map(message)),
    map(
      "ServerRequests",
      "Every request from the server, with its params and its result.",
      meta.serverRequests.map(call),
    ),
  ];
}

function constants(meta) {
  const capabilities = meta.serverRequests.map(({ name, capability }) => `"${name}": "${capability}",`);
  const codes = Object.entries(meta.errorCodes).map(([name, code]) => `${name}: ${code},`);
  const kinds = meta.kinds.map(({ kind }) => `| "${kind}"`);
  return [
    block(
      "The capability that each request from the server needs.",
      "export const CAPABILITIES = {",
      capabilities,
      "} as const;",
    ),
    block("Error codes of the wire, by name.", "export const ERROR_CODES = {", codes, "} as const;"),
    block(
      "What `data.kind` of an error can be; there may be more one day.",
      "export type ErrorKind =",
      kinds,
      "  | (string & {});",
    ),
    `export const PROTOCOL_VERSION = ${meta.protocolVersion};\n`,
  ];
}

function nouns(meta, schema) {
  // LSP's own methods are sent by the client itself, or under another name.
  const own = meta.methods.filter(({ name }) => /^\w+\/\w+$/.test(name) && !name.startsWith("workspace/"));
  return [...new Set(own.map(nounOf))].map((noun) => {
    const calls = own.filter((method) => nounOf(method) === noun).map((method) => call(method, schema));
    const about = comment(`\`${noun}/*\`: spec/${PAGES[noun] ?? noun}.md.`, "  ");
    return `${about}  readonly ${noun} = {\n${calls.join("")}  };\n`;
  });
}

const nounOf = ({ name }) => name.split("/")[0];

function call({ name, kind, params, result }, schema) {
  const verb = name.split("/")[1];
  const mayBeOmitted = (schema.$defs[params].required ?? []).length === 0;
  const given = `params: t.${params}${mayBeOmitted ? " = {}" : ""}`;
  if (kind === "notification") return folded("    ", `${verb}: (${given}): void =>`, `this.notify("${name}", params),`);
  const head = `${verb}: (${given}, options?: CallOptions): Promise<t.${result}> =>`;
  return folded("    ", head, `this.request("${name}", params, options),`);
}
