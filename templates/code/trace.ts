import type { Origin } from "../../compiler/diagnostics/diagnostic.ts";
import { comment } from "./code.ts";
import type { Comment } from "./hole.ts";

/** How much generated code says about where it comes from. */
export type Trace = (origin: Origin) => readonly Comment[];

/**
 * `gateway.yaml binds[0].listeners[0]`, `HTTPRoute default/tools spec.rules[0]`: where in the configuration a thing
 * stands. A Kubernetes resource is named, not its file: moving documents about changes nothing.
 */
export function originText({ file, path: steps, resource }: Origin): string {
  const path = steps.slice(resource?.depth ?? 0).reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
  return `${resource?.name ?? file} ${path}`.trim();
}

/** The same as text that a gateway says when it explains itself; where comments are left out, it is there all the same. */
export function tracedText(trace: Trace, origin: Origin): string {
  return trace(origin)[0]?.text ?? originText(origin);
}

/** Trace comments with the configuration path. */
export const tracePath: Trace = (origin) => [comment(originText(origin))];

/** No trace comments. */
export const traceNone: Trace = () => [];
