import { parentPort } from "node:worker_threads";
import { accessData, diffData, type InspectionOrder, linesOfPlaces } from "./inspect.ts";

parentPort?.on("message", (order: InspectionOrder) => {
  parentPort?.postMessage(resultOf(order));
});

function resultOf(order: InspectionOrder): unknown {
  switch (order.kind) {
    case "access":
      return accessData(order.version);
    case "lines":
      return linesOfPlaces(order.version);
    case "diff":
      return diffData(order.before, order.after);
  }
}
