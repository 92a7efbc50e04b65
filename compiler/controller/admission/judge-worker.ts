import { parentPort } from "node:worker_threads";
import { type JudgedObject, judgementOf } from "./judgement.ts";

// Judging an object may take long, so it runs in a thread that can be ended.
parentPort?.on("message", (object: JudgedObject) => {
  parentPort?.postMessage(judgementOf(object));
});
