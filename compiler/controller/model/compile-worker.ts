import { parentPort } from "node:worker_threads";
import { KeptResults } from "../../kept-results.ts";
import { compileFiles, type KeptCompilation, type PodSettings } from "./compile-files.ts";

/** What a worker is asked to compile. */
export interface CompileRequest {
  readonly files: Readonly<Record<string, string>>;
  readonly pods: PodSettings | undefined;
}

const kept: KeptCompilation = { files: new KeptResults(), modules: new KeptResults() };

// Compiling takes seconds where there are thousands of routes: the Lease, health and data planes go on meanwhile.
parentPort?.on("message", ({ files, pods }: CompileRequest) => {
  parentPort?.postMessage(compileFiles(files, pods, kept));
});
