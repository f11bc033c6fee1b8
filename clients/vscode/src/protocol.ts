/** The protocol's types, as the TypeScript client has them generated from the schema. */
export type { Events, Requests } from "../../typescript/src/methods.js";
export type {
  AfterturnClientCapabilities,
  GetContextParams,
  Message,
  Recap,
  RecapContext,
  RecapNowResult,
  StatusResult,
  Trace,
} from "../../typescript/src/protocol.js";
