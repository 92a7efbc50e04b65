import { parentPort } from "node:worker_threads";
import { StartupError } from "../../process/startup-error.ts";
import { bundleInfo } from "../build-info.ts";
import type { Gateway } from "../definition.ts";
import { openGateway } from "../gateway.ts";
import { EVERY_ADDRESS, logUncaughtErrors } from "../start.ts";
import type { WorkerOrder, WorkerReport, WorkerStart } from "./worker-messages.ts";

/** Serves the ports of a gateway in a thread beside others. */
export async function serveAsWorker(gateway: Gateway, start: WorkerStart): Promise<void> {
  const say = (report: WorkerReport) => parentPort?.postMessage(report);
  logUncaughtErrors();
  try {
    const running = await openGateway(withShare(gateway, start), {
      defaultAddress: EVERY_ADDRESS,
      build: bundleInfo,
      worker: { ...start, log: (lines) => say({ kind: "lines", lines }) },
    });
    parentPort?.on("message", (order: WorkerOrder) => {
      if (order.kind === "end") void running.close().then(() => process.exit(0));
      else say({ ...order, kind: "counted", figures: running.figures() });
    });
    say({ kind: "serving" });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    say({ kind: "failed", message: error.message });
    process.exit(1);
  }
}

/** Each may have its part of all connections: together they never have more. */
function withShare(gateway: Gateway, { count }: WorkerStart): Gateway {
  const { connections } = gateway;
  const maxConnections = Math.floor(connections.maxConnections / count);
  return { ...gateway, connections: { ...connections, maxConnections } };
}
