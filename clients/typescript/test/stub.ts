/**
 * A server that does what no server should. `node stub.js START`, where START says how it begins; after that it does
 * what the sessionId of each `recap/get` says.
 */
import { encodeFrame, FrameReader } from "../src/framing.js";

interface Message {
  id?: number;
  method?: string;
  params?: { sessionId?: string; id?: number; workDoneToken?: number; settings?: unknown };
}

/** What has been asked to end, and what has come late, as `report` tells it. */
const seen: { cancelled: unknown[]; notified: string[]; answers: unknown[] } = {
  cancelled: [],
  notified: [],
  answers: [],
};
let late: Message | undefined;
let waitsForAnswer: Message | undefined;

const send = (message: object): void =>
  void process.stdout.write(encodeFrame(JSON.stringify({ jsonrpc: "2.0", ...message })));
const answer = ({ id, params }: Message): void => send({ id, result: { echo: params } });
const raw = (bytes: string): void => void process.stdout.write(bytes);

function initialize({ id, params }: Message, protocolVersion = 1, name = "afterturn"): void {
  const limits = { maxMessageBytes: 1_000_000, maxInFlight: 9 };
  const afterturn = { protocolVersion, methods: [], events: [], limits };
  const given = { env: process.env, cwd: process.cwd(), args: process.argv.slice(3), params };
  send({
    id,
    result: { capabilities: { experimental: { afterturn }, given }, serverInfo: { name, version: "9.9.9" } },
  });
}

const STARTS: Record<string, (message: Message) => void> = {
  well: initialize,
  crash: () => process.exit(3),
  mute: () => {},
  "mute and deaf": () => {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
  },
  garbage: () => raw("Traceback (most recent call last):\n"),
  "other version": (message) => initialize(message, 2),
  "other server": (message) => initialize(message, 1, "somebody"),
  refuse: ({ id }) => send({ id, error: { code: -32803, message: "no", data: { kind: "busy" } } }),
  "answer null": ({ id }) => send({ id, result: null }),
  "other versions": ({ id }) =>
    send({ id, error: { code: -32803, message: "no", data: { kind: "protocol_version", supported: [2, 3] } } }),
  "crash with last words": () => {
    process.stderr.write(`${"x".repeat(50_000)}the last words\n`, () => process.exit(3));
  },
  "deaf to EOF": (message) => {
    setInterval(() => {}, 1000);
    initialize(message);
  },
  "deaf to SIGTERM": (message) => {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    initialize(message);
  },
};

const BEHAVIOURS: Record<string, (message: Message) => void> = {
  echo: answer,
  report: ({ id }) => send({ id, result: seen }),
  "report an answer": (message) => {
    waitsForAnswer = message;
    reportAnswer();
  },
  crash: () => process.exit(3),
  kill: () => process.kill(process.pid, "SIGKILL"),
  hang: () => {},
  late: (message) => {
    late = message;
  },
  "answer the late one": (message) => {
    if (late) answer(late);
    answer(message);
  },
  twice: (message) => {
    answer(message);
    send({ id: message.id, error: { code: 1, message: "second" } });
  },
  refuse: ({ id }) =>
    send({ id, error: { code: -32803, message: "busy", data: { kind: "busy", retryable: true, retryAfterMs: 5 } } }),
  neither: ({ id }) => send({ id }),
  "no id": (message) => {
    send({ id: null, error: { code: -32700, message: "what?" } });
    answer(message);
  },
  "too short": ({ id }) => raw(`Content-Length: 5\r\n\r\n${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}`),
  "too long": (message) => {
    raw(`Content-Length: 200\r\n\r\n${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} })}`);
    for (let i = 0; i < 9; i++) answer({ id: 999 });
  },
  garbage: () => raw("segmentation fault\n"),
  "no json": () => raw("Content-Length: 5\r\n\r\nhello"),
  "a batch": () => raw("Content-Length: 2\r\n\r\n[]"),
  "flood stderr": (message) => {
    process.stderr.write("noise ".repeat(1_000_000), () => answer(message));
  },
  "close stdout": () => void process.stdout.end(),
  "stop reading": (message) => {
    process.stdin.pause();
    process.stdin.removeAllListeners("data");
    setInterval(() => {}, 1000);
    answer(message);
  },
  big: ({ id }) => send({ id, result: { text: "\ud83d漢".repeat(1_000_000) } }),
  events: (message) => {
    send({ method: "usage.limit", params: { scope: "day" } });
    send({ method: "an.unknown", params: {} });
    send({
      method: "$/progress",
      params: { token: message.params?.workDoneToken, value: { kind: "begin", title: "t" } },
    });
    send({ method: "$/progress", params: { token: "nobody", value: { kind: "end" } } });
    answer(message);
  },
  ask: (message) => {
    send({ id: "q1", method: "sampling/createMessage", params: { maxTokens: 7 } });
    answer(message);
  },
  "ask and cancel": (message) => {
    send({ id: "q2", method: "sampling/createMessage", params: {} });
    send({ method: "$/cancelRequest", params: { id: "q2" } });
    answer(message);
  },
  "ask for the unknown": (message) => {
    send({ id: "q3", method: "host/dance", params: {} });
    answer(message);
  },
};

/** Once the client has answered something. */
function reportAnswer(): void {
  if (waitsForAnswer && seen.answers.length > 0) send({ id: waitsForAnswer.id, result: seen });
}

function take(message: Message): void {
  const { id, method, params } = message;
  if (method === undefined) {
    seen.answers.push(message);
    reportAnswer();
  } else if (method === "initialize") STARTS[process.argv[2] as string]?.(message);
  else if (method === "$/cancelRequest") seen.cancelled.push(params?.id);
  else if (id === undefined) seen.notified.push(method);
  else if (method === "recap/get") BEHAVIOURS[params?.sessionId as string]?.(message);
  else answer(message);
}

const reader = new FrameReader();
process.stdin.on("data", (chunk: Buffer) => {
  for (const body of reader.push(chunk)) take(JSON.parse(body) as Message);
});
