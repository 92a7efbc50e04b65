import path from "node:path";
import { inject } from "vitest";
import { root } from "./root.ts";

/** Scripts as single files, in a folder for each state of what they are made of. */
export const SCRIPTS: string = path.join(root, "node_modules", ".cache", "gwc-scripts");

/** The servers and gateways that tests start by the hundred, below test/. */
export const SCRIPT_NAMES = [
  "conformance/mcp-server.ts",
  "conformance/stateless-server.ts",
  "http/fixtures/gateway.ts",
  "http/fixtures/reload.ts",
  "mcp/fixtures/changing-server.ts",
  "mcp/fixtures/gateway.ts",
] as const;

/** The path of such a script as one file: of its sources, most of what it would take to start is finding and reading them. */
export function ownScript(name: (typeof SCRIPT_NAMES)[number]): string {
  return path.join(inject("scripts"), name.replace(/\.ts$/, ".mjs"));
}
