import { parentPort } from "node:worker_threads";
import { type JudgedObject, judgementOf } from "./judgement.ts";

// An object may take long to judge: whoever waits for it can end this thread.
parentPort?.on("message", (object: JudgedObject) => {
  parentPort?.postMessage(judgementOf(object));
});
