import { policies } from "../../../policies/index.ts";
import type { RulePath } from "./effective.ts";
import type { EffectiveField } from "./merge.ts";

/**
 * Why a field that is effective for traffic does nothing there: it is about another kind of backend. What stands on a
 * Gateway or listener is for the routes that it suits. On a route itself it is a mistake, which is told later.
 */
export function whyIdle(
  { field, values }: EffectiveField,
  { backend }: RulePath,
): string | undefined {
  const isMcp = backend?.config.kind === "mcp";
  const needs = NEEDS.get(field);
  if (needs === "mcp" && !isMcp) return "it is about MCP, and the backend is no MCP server";
  const level = values.at(-1)?.level ?? "";
  if (needs !== "host" || !isMcp || !OUTER.includes(level)) return undefined;
  return "it is about single requests, and the backend speaks MCP";
}

const OUTER: readonly string[] = ["gateway", "listenerSet", "listener"];

const NEEDS: ReadonlyMap<string, "host" | "mcp"> = new Map(
  policies.flatMap(({ kubernetes, needs }) =>
    kubernetes === undefined || needs === undefined ? [] : [[kubernetes.field, needs] as const],
  ),
);
