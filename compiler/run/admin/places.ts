import type { Origin } from "../../diagnostics/diagnostic.ts";
import { locate } from "../../diagnostics/source.ts";
import type { LiveView } from "./view.ts";

/** `gateway.yaml:12` */
export function place(origin: Origin, view: LiveView): string {
  return `${origin.file}:${lineOf(origin, view)}`;
}

/** The line of a place. */
export function lineOf(origin: Origin, view: LiveView): number {
  return locate(origin, view.sourceFiles).line;
}
