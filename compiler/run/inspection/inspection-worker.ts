import { parentPort } from "node:worker_threads";
import { accessData, diffData, type InspectionOrder } from "./inspect.ts";

parentPort?.on("message", (order: InspectionOrder) => {
  const result =
    order.kind === "access" ? accessData(order.version) : diffData(order.before, order.after);
  parentPort?.postMessage(result);
});
