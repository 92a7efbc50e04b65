import { parentPort } from "node:worker_threads";
import { compileFiles, type PodSettings } from "./compile-files.ts";

/** What a worker is asked to compile. */
export interface CompileRequest {
  readonly files: Readonly<Record<string, string>>;
  readonly pods: PodSettings | undefined;
}

// Compiling takes seconds where there are thousands of routes: the Lease, health and data planes go on meanwhile.
parentPort?.on("message", ({ files, pods }: CompileRequest) => {
  parentPort?.postMessage(compileFiles(files, pods));
});
