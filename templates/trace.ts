import type { Origin } from "../compiler/diagnostics.ts";
import { type Comment, comment } from "./code.ts";

/** How much generated code says about where it comes from. */
export type Trace = (origin: Origin) => readonly Comment[];

/** `gateway.yaml binds[0].listeners[0]`: where in the configuration a thing stands. */
export function originText(origin: Origin): string {
  const path = origin.path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
  return `${origin.file} ${path}`.trim();
}

/** Trace comments with the configuration path. */
export const tracePath: Trace = (origin) => [comment(originText(origin))];

/** No trace comments. */
export const traceNone: Trace = () => [];
