import type { Origin } from "../../diagnostics/diagnostic.ts";
import { locate } from "../../diagnostics/source.ts";
import type { Text } from "../../model/texts.ts";
import type { LiveView } from "./view.ts";

/** Late parts stay references: their values may be secrets. */
export function envTemplateText(text: Text): string {
  if (typeof text === "string") return text;
  return text.parts.map((part) => (typeof part === "string" ? part : `\${${part.env}}`)).join("");
}

/** `gateway.yaml:12` */
export function place(origin: Origin, view: LiveView): string {
  return `${origin.file}:${lineOf(origin, view)}`;
}

/** The line of a place. */
export function lineOf(origin: Origin, view: LiveView): number {
  return locate(origin, view.current.files).line;
}
