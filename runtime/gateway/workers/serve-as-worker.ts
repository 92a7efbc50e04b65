import { MessageChannel, parentPort, receiveMessageOnPort } from "node:worker_threads";
import { StartupError } from "../../process/startup-error.ts";
import { SECOND } from "../../process/units.ts";
import { threadAudit } from "../../telemetry/logs/thread-audit.ts";
import { bundleInfo } from "../build-info.ts";
import type { Gateway } from "../definition.ts";
import { openGateway } from "../gateway.ts";
import { EVERY_ADDRESS, logUncaughtErrors } from "../start.ts";
import type { MemorySize, WorkerOrder, WorkerReport, WorkerStart } from "./worker-messages.ts";

/** Serves the ports of a gateway in a thread beside others. */
export async function serveAsWorker(gateway: Gateway, start: WorkerStart): Promise<void> {
  const say = (report: WorkerReport) => parentPort?.postMessage(report);
  logUncaughtErrors();
  try {
    const handover = gateway.handover?.(start.index);
    for (const link of start.links) handover?.link(link);
    const othersClosed = Promise.withResolvers<void>();
    const opening = openGateway(withShare(gateway, start), {
      defaultAddress: EVERY_ADDRESS,
      build: bundleInfo,
      worker: {
        ...start,
        memory: (name, bytes) => askForMemory(name, { bytes }),
        keptMemory: (name, keptKeys) => askForMemory(name, { keptKeys }),
        log: (lines) => say({ kind: "lines", lines }),
        audit: threadAudit((line) => say({ kind: "audit", line })),
        handover,
        allClosed: () => {
          say({ kind: "closed" });
          return othersClosed.promise;
        },
      },
    });
    // Before it serves: what comes at once may be another thread's.
    parentPort?.on("message", (order: WorkerOrder) => {
      switch (order.kind) {
        case "link":
          handover?.link(order.link);
          return;
        case "allClosed":
          // What other threads have said last is heard before.
          setImmediate(othersClosed.resolve);
          return;
        case "end":
          void opening.then((running) => running.close()).then(() => process.exit(0), ignored);
          return;
        case "count":
          void opening.then(
            (running) => say({ ...order, kind: "counted", figures: running.figures() }),
            ignored,
          );
      }
    });
    await opening;
    say({ kind: "serving" });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    say({ kind: "failed", message: error.message });
    process.exit(1);
  }
}

/** Why it can't be opened is said once. */
const ignored = () => {};

/** Milliseconds that the main thread may take: it serves no request. */
const longestWait = 30 * SECOND;

/** Asks the main thread, which gives the same memory to all, and waits: what needs it is counted in it. */
function askForMemory(name: string, size: MemorySize): SharedArrayBuffer {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const report: WorkerReport = { kind: "memory", name, size, signal, port: port2 };
  parentPort?.postMessage(report, [port2]);
  Atomics.wait(signal, 0, 0, longestWait);
  const memory: unknown = receiveMessageOnPort(port1)?.message;
  port1.close();
  if (memory instanceof SharedArrayBuffer) return memory;
  throw new Error("the main thread gave no memory");
}

/** Each may have its part of all connections: together they never have more. */
function withShare(gateway: Gateway, { count }: WorkerStart): Gateway {
  const { connections } = gateway;
  const maxConnections = Math.floor(connections.maxConnections / count);
  return { ...gateway, connections: { ...connections, maxConnections } };
}
