import { parentPort } from "node:worker_threads";
import { POLICY_FOLDER } from "../../policies/custom/read-policy.ts";
import { CompileChanges, type CompileRequest, type CompileResponse } from "./compile-changes.ts";
import { CachedCompilation, compileFiles } from "./compile-files.ts";

let cached = new CachedCompilation();
const files: Map<string, string> = new Map();
const changes = new CompileChanges();

// Compiling takes seconds with thousands of routes. The Lease, health checks and data planes continue meanwhile.
parentPort?.on("message", ({ changed, removed, pods }: CompileRequest) => {
  const before = process.threadCpuUsage();
  // Code is an input of all that names it.
  const isNewCode = [...removed, ...Object.keys(changed)].some((path) =>
    path.startsWith(POLICY_FOLDER),
  );
  if (isNewCode) cached = new CachedCompilation();
  for (const path of removed) files.delete(path);
  for (const [path, text] of Object.entries(changed)) files.set(path, text);
  const change = changes.of(compileFiles(Object.fromEntries(files), pods, cached));
  const { user, system } = process.threadCpuUsage(before);
  const response: CompileResponse = { ...change, processorTime: (user + system) / 1_000 };
  parentPort?.postMessage(response);
});
