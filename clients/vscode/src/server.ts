import * as vscode from "vscode";
import {
  CancellationToken,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type StaticFeature,
} from "vscode-languageclient/node";
import { isExecutable } from "../../typescript/src/find.js";
import { explicitSettings } from "./configuration.js";
import { serverEnvironment } from "./environment.js";
import { findExecutable, ServerMissing } from "./finding.js";
import { PAGE_SCHEME } from "./pages.js";
import type {
  AfterturnClientCapabilities,
  Events,
  GetContextParams,
  RecapContext,
  RecapNowResult,
  Requests,
  StatusResult,
} from "./protocol.js";
import { changes, takesBack, type Tree } from "./settings.js";

/** How the server is: `problem` is a sentence for a person. */
export type Health = { state: "starting" | "running" | "stopped" } | { state: "failed"; problem: string };

const CAPABILITIES: AfterturnClientCapabilities = {
  protocolVersion: 1,
  context: true,
  recap: { canShow: true, canSave: false, focusReporting: "supported" },
};

/** How long a server may take to answer `initialize`, in ms. */
const START_MS = 30_000;

/** Where refs are looked for: not in originals, whose "t12" is somebody else's. */
const SELECTOR = ["file", "untitled", PAGE_SCHEME].map((scheme) => ({ scheme }));

/** What is attached to every client that is made: servers come and go, what listens to them stays. */
type Attach = (client: LanguageClient) => void;

/** The window's server: started, watched, started anew when it must be. */
export class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("afterturn", { log: true });
  readonly #attached: Attach[] = [];
  readonly #changed = new vscode.EventEmitter<Health>();
  readonly onDidChangeHealth = this.#changed.event;
  #client: LanguageClient | undefined;
  #health: Health = { state: "stopped" };
  #started: Tree = {};
  #turn: Promise<void> = Promise.resolve();

  get health(): Health {
    return this.#health;
  }

  /** Starts it, in place of the one that runs. Never throws: what went wrong is its health. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#end();
      await this.#begin();
    });
  }

  /** Ends it, and does not start it again. */
  stop(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  dispose(): void {
    this.log.dispose();
    this.#changed.dispose();
  }

  /** Asks the server. Rejects when there is none. */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token: vscode.CancellationToken = CancellationToken.None,
  ): Promise<Requests[M]["result"]> {
    return await this.#running().sendRequest(method, params, token);
  }

  /** What the server says of itself, and the session of this workspace that was active last. */
  status(): Promise<StatusResult & { sessionId: string | null }> {
    return this.#execute("afterturn.status", {});
  }

  /** A recap of a session now; where there is nothing to draft one from, the one that is kept. */
  recap(sessionId: string): Promise<RecapNowResult> {
    return this.#execute("afterturn.recap", { sessionId });
  }

  /** Where the original behind a ref is, in the session that a place means; null for a ref that it does not know. */
  async original(
    ref: string,
    place: { uri: string; line: number } | undefined,
  ): Promise<{ uri: vscode.Uri | null; text: string | null }> {
    const { uri, text } = await this.#execute<{ uri: string | null; text: string | null }>("afterturn.showRef", {
      ref,
      ...place,
    });
    return { uri: uri === null ? null : vscode.Uri.parse(uri), text };
  }

  onEvent<E extends keyof Events>(event: E, handle: (params: Events[E]) => void): void {
    this.#attached.push((client) => client.onNotification(event, handle));
  }

  /** Answers what the server asks to draft a recap from. */
  onContextAsked(answer: (sessionId: string) => Promise<RecapContext>): void {
    this.#attached.push((client) =>
      client.onRequest("host/getContext", ({ sessionId }: GetContextParams) => answer(sessionId)),
    );
  }

  /** Settings changed: the server is told of new ones by the library, and forgets those taken back by starting anew. */
  async settingsChanged(): Promise<void> {
    if (takesBack(this.#started, explicitSettings())) await this.restart();
  }

  /** Runs one of the server's own commands, each of which takes one object and gives one. */
  async #execute<R>(command: string, argument: object): Promise<R> {
    return await this.#running().sendRequest("workspace/executeCommand", { command, arguments: [argument] });
  }

  #running(): LanguageClient {
    if (this.#client?.state !== State.Running) throw new Error(this.#absence());
    return this.#client;
  }

  #absence(): string {
    return this.#health.state === "failed" ? this.#health.problem : "The afterturn server is not running.";
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  async #end(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    try {
      await client.dispose();
    } catch (problem) {
      this.log.warn(`The server did not end by itself: ${String(problem)}`);
    }
    this.#become({ state: "stopped" });
  }

  async #begin(): Promise<void> {
    this.#become({ state: "starting" });
    try {
      const setting = vscode.workspace.getConfiguration("afterturn").get("command", "");
      const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file")?.uri.fsPath;
      const { env, platform } = process;
      const executable = await findExecutable({ setting, folder }, { env, platform, isExecutable });
      this.log.info(`Starting ${executable}`);
      this.#started = explicitSettings();
      const client = this.#make(executable);
      this.#client = client;
      await answered(client);
    } catch (problem) {
      const said = problem instanceof Error ? problem.message : String(problem);
      const sentence = problem instanceof ServerMissing ? said : `The afterturn server could not be started: ${said}`;
      this.log.error(sentence);
      this.#client = undefined;
      this.#become({ state: "failed", problem: sentence });
    }
  }

  #make(executable: string): LanguageClient {
    const options = { env: serverEnvironment(process.env) };
    const run = { command: executable, args: ["--stdio"], options };
    const client: LanguageClient = new LanguageClient("afterturn", "afterturn", run, {
      documentSelector: SELECTOR,
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: this.#started,
      initializationFailedHandler: () => false,
      middleware: {
        // The library's own answers hold VS Code's defaults, which would hide the person's settings.toml.
        workspace: {
          configuration: ({ items }) => items.map(() => this.#newSettings()),
          didChangeConfiguration: () =>
            client.sendNotification("workspace/didChangeConfiguration", {
              settings: { afterturn: this.#newSettings() },
            }),
        },
      },
    });
    client.registerFeature(experimental());
    for (const attach of this.#attached) attach(client);
    client.onDidChangeState(({ newState }) => {
      if (client !== this.#client) return;
      if (newState === State.Running) this.#become({ state: "running" });
      else if (newState === State.Starting) this.#become({ state: "starting" });
      else this.#become({ state: "stopped" }); // the library starts it anew, or says that it gave up
    });
    return client;
  }

  /** What was set since the server started: the rest it was started with. */
  #newSettings(): Tree {
    return changes(this.#started, explicitSettings());
  }

  #become(health: Health): void {
    this.#health = health;
    this.#changed.fire(health);
  }
}

/** The client once its server has answered. A program that never does is no server, and is ended. */
async function answered(client: LanguageClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it said nothing for ${START_MS / 1000} s`)), START_MS);
  });
  try {
    await Promise.race([client.start(), tooLong]);
  } catch (problem) {
    client.dispose().catch(() => {}); // rejects because it is starting, and ends the process all the same
    throw problem;
  } finally {
    clearTimeout(timer);
  }
}

/** Declares what this client can do beyond what language clients can. */
function experimental(): StaticFeature {
  return {
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...capabilities.experimental, afterturn: CAPABILITIES };
    },
    initialize: () => {},
    getState: () => ({ kind: "static" }),
    clear: () => {},
  };
}
