import { workerData } from "node:worker_threads";
import { ImportedModules } from "./imported-modules.ts";
import { withoutPorts } from "./open-ports.ts";
import type { AgentCode, AgentNews } from "./thread-messages.ts";

/** One of several threads of a data plane: serves the generations that its main thread sends. */
const { serveAsWorker } = await import("gwc/runtime/gateway/workers/serve-as-worker");
const { lateErrorText } = await import("gwc/runtime/policies/custom/policy-errors");
const { setEndpoints } = await import("gwc/runtime/net/service-endpoints");

const imported = new ImportedModules();

// The main thread sends messages of these kinds.
await serveAsWorker(workerData, {
  lateErrorText,
  load: async (code) => {
    const { modules, variables, closed } = code as AgentCode;
    Object.assign(process.env, variables);
    return withoutPorts(await imported.load(modules), closed);
  },
  notified: (notice) => {
    const { port, pods } = notice as AgentNews;
    setEndpoints(port, pods);
  },
});
