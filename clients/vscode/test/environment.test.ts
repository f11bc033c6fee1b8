import assert from "node:assert/strict";
import { test } from "node:test";
import { serverEnvironment } from "../src/environment.js";

test("the server gets keys, and nothing that bends Python", () => {
  const window = {
    PATH: "/bin",
    A_KEY: "k",
    AFTERTURN_HOME: "/h",
    PYTHONPATH: "/p",
    PYTHONHOME: "/q",
    PythonPath: "/r",
  };
  assert.deepEqual(serverEnvironment(window), { PATH: "/bin", A_KEY: "k", AFTERTURN_HOME: "/h" });
});
