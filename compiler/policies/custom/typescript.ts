import { createRequire } from "node:module";
import type { Project, ts } from "ts-morph";

/** The part of TypeScript that reads modules. */
export type TypeScript = typeof ts;

/** The package that contains it. */
export interface TypeScriptPackage {
  readonly ts: TypeScript;
  readonly Project: typeof Project;
}

/** Returns TypeScript, which is loaded on first use: only configurations with custom policies need it while they are checked. */
export function typescript(): TypeScriptPackage {
  return createRequire(import.meta.url)("ts-morph");
}
