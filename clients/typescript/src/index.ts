/** The client of afterturn. Start with `Afterturn.start()`. */
export type { CallOptions } from "./call.js";
export { Afterturn, type Server } from "./client.js";
export {
  AfterturnError,
  CancelledError,
  ClosedError,
  type Exit,
  ExitError,
  NotFoundError,
  ProtocolError,
  ResponseError,
  SendError,
  StartError,
  TimeoutError,
  UnavailableError,
} from "./errors.js";
export type { ClientEvents, EventName, EventParams } from "./events.js";
export {
  ERROR_CODES,
  type ErrorKind,
  type Events,
  type Notifications,
  PROTOCOL_VERSION,
  type Requests,
  type ServerRequests,
} from "./methods.js";
export type { Handler, Handlers, Listeners, StartOptions } from "./options.js";
export type * from "./protocol.js";
export type { Status } from "./supervisor.js";
export { VERSION } from "./version.js";
