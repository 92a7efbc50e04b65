import { isBuiltin } from "node:module";

/** Global names that reach the outside, by the word that allows them in a configuration. */
export const GLOBALS: ReadonlyMap<string, string> = new Map([
  ...["fetch", "WebSocket", "EventSource"].map((name) => [name, "fetch"] as const),
  ["process", "process"],
  ["globalThis", "globalThis"],
]);

/** Words of `allow` that are no modules of Node.js. */
export const GLOBAL_POWERS: readonly string[] = ["fetch", "process", "globalThis"];

/** Whether a name of `allow` stands for something: a module of Node.js without `node:`, or one of the global names. */
export function isPower(name: string): boolean {
  return GLOBAL_POWERS.includes(name) || (isBuiltin(`node:${name}`) && !name.includes(":"));
}
