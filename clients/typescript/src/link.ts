import { Call } from "./call.js";
import { Child } from "./child.js";
import { Connection, type Surroundings } from "./connection.js";
import { ClosedError, type Exit, ExitError, type ProtocolError, ResponseError, StartError } from "./errors.js";
import { PROTOCOL_VERSION } from "./methods.js";
import type { InitializeParams, InitializeResult } from "./protocol.js";
import { VERSION } from "./version.js";

/** How long each step of ending a server may take before the next one, in ms. */
export const GRACE_MS = 2000;

/** How a server is started, the first time and again. */
export interface Launch {
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string | undefined;
  initialize: InitializeParams;
  /** For the handshake, in ms. */
  timeoutMs: number;
  background: boolean;
  /** Aborting it gives the handshake up. */
  signal?: AbortSignal;
}

/** One process and the connection to it, from the handshake on. */
export class Link {
  private constructor(
    readonly child: Child,
    readonly connection: Connection,
    readonly initialized: InitializeResult,
  ) {}

  /** Start a process and shake hands. Rejects with StartError, once the process has ended. */
  static async open(launch: Launch, surroundings: Omit<Surroundings, "onBroken">): Promise<Link> {
    const child = await Child.spawn(launch.command, launch.env, launch.cwd);
    const onBroken = (error: ProtocolError): void => {
      surroundings.onWarning(error.message, error);
      void child.end(GRACE_MS, true);
    };
    const connection = new Connection(child.stdin, { ...surroundings, onBroken });
    child.pipeTo((chunk) => connection.receive(chunk), GRACE_MS);
    void child.ended.then((exit) => connection.end(new ExitError(exit)));
    // What was started there may look at nothing, and so not see that the host has gone. It was given no work to lose.
    const abandon = (): void => child.kill();
    process.once("exit", abandon);
    try {
      const initialized = await shakeHands(connection, launch);
      return new Link(child, connection, initialized);
    } catch (error) {
      connection.end(new ClosedError());
      await child.end(GRACE_MS, launch.background);
      throw new StartError(`${launch.command.join(" ")}: ${reason(error)}`, launch.command, error);
    } finally {
      process.off("exit", abandon);
    }
  }

  /** Ask it to end, then tell it, then kill it; `graceMs` for each. In the background that does not hold the host. */
  async close(graceMs: number, background: boolean): Promise<Exit> {
    if (!this.connection.isBlocked) {
      const shutdown = new Call("shutdown", {}, { timeoutMs: graceMs, background });
      this.connection.send(shutdown);
      // Whatever it answers, it has to end.
      await shutdown.promise.catch(() => {});
      this.connection.notify("exit", {});
    }
    this.connection.end(new ClosedError());
    return this.child.end(graceMs, background);
  }
}

async function shakeHands(connection: Connection, launch: Launch): Promise<InitializeResult> {
  const call = new Call("initialize", launch.initialize, launch);
  connection.send(call);
  const result = (await call.promise) as Partial<InitializeResult> | null;
  const afterturn = result?.capabilities?.experimental?.afterturn;
  if (result?.serverInfo?.name !== "afterturn" || !afterturn) throw new Error("this is not afterturn");
  if (afterturn.protocolVersion !== PROTOCOL_VERSION) throw new Error(misfit(afterturn.protocolVersion));
  connection.maxMessageBytes = afterturn.limits.maxMessageBytes;
  connection.notify("initialized", {});
  return result as InitializeResult;
}

function reason(error: unknown): string {
  const refusal = error instanceof ResponseError && error.kind === "protocol_version" ? error.data?.supported : null;
  return refusal?.length ? misfit(refusal.join(" and ")) : (error as Error).message;
}

function misfit(spoken: number | string): string {
  const versions = `it speaks protocol ${spoken}, this client ${PROTOCOL_VERSION}`;
  return `${versions}; \`pip install afterturn==${VERSION}\` fits`;
}
