import { parentPort } from "node:worker_threads";
import { realHost } from "../host.ts";
import type { CompileOrder } from "./background-compiler.ts";
import { compileCandidate } from "./candidate.ts";

parentPort?.on("message", ({ file, isStrict, gateway, variables }: CompileOrder) => {
  const candidate = compileCandidate(file, realHost(variables), isStrict, gateway);
  parentPort?.postMessage(candidate);
});
