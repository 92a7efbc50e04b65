// The main module of a thread of its own: hashing takes milliseconds to seconds, which requests must not wait for.
import { parentPort } from "node:worker_threads";
import { isPasswordOf } from "./costly-hash.ts";
import type { PasswordJob } from "./password-pool.ts";

parentPort?.on("message", ({ password, expected }: PasswordJob) => {
  parentPort?.postMessage(isPasswordOf(password, expected));
});
