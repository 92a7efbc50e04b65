import { parentPort } from "node:worker_threads";
import { CompileChanges, type CompileRequest } from "./compile-changes.ts";
import { CachedCompilation, compileFiles } from "./compile-files.ts";

const cached = new CachedCompilation();
const files: Map<string, string> = new Map();
const changes = new CompileChanges();

// Compiling takes seconds with thousands of routes. The Lease, health checks and data planes continue meanwhile.
parentPort?.on("message", ({ changed, removed, pods }: CompileRequest) => {
  for (const path of removed) files.delete(path);
  for (const [path, text] of Object.entries(changed)) files.set(path, text);
  parentPort?.postMessage(changes.of(compileFiles(Object.fromEntries(files), pods, cached)));
});
