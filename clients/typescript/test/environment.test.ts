import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentFor } from "../src/environment.js";

const HOST = {
  PATH: "/bin",
  HOME: "/home/u",
  LC_ALL: "C.UTF-8",
  XDG_DATA_HOME: "/data",
  AFTERTURN_HOME: "/a",
  https_proxy: "http://proxy",
  REQUESTS_CA_BUNDLE: "/ca.pem",
  SystemRoot: "C:\\Windows",
  OPENAI_API_KEY: "secret",
  OTHER_KEY: "secret",
  PYTHONPATH: "/evil",
  PYTHONHOME: "/evil",
  LD_PRELOAD: "/evil",
  NODE_OPTIONS: "--inspect",
};

const SAFE = {
  PATH: "/bin",
  HOME: "/home/u",
  LC_ALL: "C.UTF-8",
  XDG_DATA_HOME: "/data",
  AFTERTURN_HOME: "/a",
  https_proxy: "http://proxy",
  REQUESTS_CA_BUNDLE: "/ca.pem",
  SystemRoot: "C:\\Windows",
};

type Case = [name: string, extra: Record<string, string | undefined>, settings: object, environment: object];

const CASES: Case[] = [
  ["the safe part", {}, {}, SAFE],
  [
    "what the host adds, and not what it takes away",
    { A: "1", HOME: undefined },
    {},
    { ...SAFE, A: "1", HOME: undefined },
  ],
  [
    "the keys that settings name",
    {},
    { models: { apiKeyEnv: "OPENAI_API_KEY" } },
    { ...SAFE, OPENAI_API_KEY: "secret" },
  ],
  ["for embeddings too", {}, { embeddings: { apiKeyEnv: "OTHER_KEY" } }, { ...SAFE, OTHER_KEY: "secret" }],
  [
    "keys that AFTERTURN_SETTINGS names",
    { AFTERTURN_SETTINGS: '{"models": {"apiKeyEnv": "OPENAI_API_KEY"}, "embeddings": {"apiKeyEnv": "OTHER_KEY"}}' },
    {},
    {
      ...SAFE,
      AFTERTURN_SETTINGS: '{"models": {"apiKeyEnv": "OPENAI_API_KEY"}, "embeddings": {"apiKeyEnv": "OTHER_KEY"}}',
      OPENAI_API_KEY: "secret",
      OTHER_KEY: "secret",
    },
  ],
  ...["", "{", "null", "5", '"x"', '{"models": null}'].map((AFTERTURN_SETTINGS): Case => [
    `no key where AFTERTURN_SETTINGS is ${AFTERTURN_SETTINGS || "empty"}`,
    { AFTERTURN_SETTINGS },
    {},
    { ...SAFE, AFTERTURN_SETTINGS },
  ]),
];

for (const [name, extra, settings, environment] of CASES) {
  test(`passes on ${name}`, () => {
    const expected = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
    assert.deepEqual(environmentFor(HOST, extra, settings), expected);
  });
}
