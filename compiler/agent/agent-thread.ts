import { workerData } from "node:worker_threads";
import { ImportedModules } from "./imported-modules.ts";
import type { AgentCode, AgentNews } from "./thread-messages.ts";

/** One of several threads of a data plane: it serves the generations that its main thread gives it. */
const { serveAsWorker } = await import("gwc/runtime/gateway/workers/serve-as-worker");
const { setEndpoints } = await import("gwc/runtime/net/service-endpoints");

const imported = new ImportedModules();

// What its main thread sends is of these kinds.
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
