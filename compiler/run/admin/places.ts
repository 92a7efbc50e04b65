import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { LiveView } from "./view.ts";

/** Formats a place without its column: `gateway.yaml:12`; only the file until lines are known. */
export function place(origin: Origin, view: Pick<LiveView, "lineOf">): string {
  const line = view.lineOf(origin);
  return line === undefined ? origin.file : `${origin.file}:${line}`;
}
