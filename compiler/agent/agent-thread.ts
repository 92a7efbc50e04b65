import { workerData } from "node:worker_threads";
import { ImportedModules } from "./imported-modules.ts";
import type { AgentCode, AgentNews } from "./thread-messages.ts";

/** One of several threads of a data plane: serves the generations that its main thread sends. */
const { serveAsWorker } = await import("gwc/runtime/gateway/workers/serve-as-worker");
const { setEndpoints } = await import("gwc/runtime/net/service-endpoints");

const imported = new ImportedModules();

// The main thread sends messages of these kinds.
await serveAsWorker(workerData, {
  load: (code) => {
    const { modules, variables } = code as AgentCode;
    Object.assign(process.env, variables);
    return imported.load(modules);
  },
  notified: (notice) => {
    const { port, pods } = notice as AgentNews;
    setEndpoints(port, pods);
  },
});
