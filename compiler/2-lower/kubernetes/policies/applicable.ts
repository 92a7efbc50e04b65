import { backendOf } from "../../../backends/index.ts";
import type { BackendProtocol } from "../../../backends/parts/backend-protocol.ts";
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
  const spoken = backend === undefined ? "http" : backendOf(backend.config.kind).protocol;
  const wanted = PROTOCOLS.get(field);
  if (wanted === undefined || wanted === spoken) return undefined;
  if (wanted === "mcp") return "it is about MCP, and the backend is no MCP server";
  const level = values.at(-1)?.level ?? "";
  return OUTER.includes(level)
    ? "it is about single requests, and the backend speaks MCP"
    : undefined;
}

const OUTER: readonly string[] = ["gateway", "listenerSet", "listener"];

const PROTOCOLS: ReadonlyMap<string, BackendProtocol> = new Map(
  policies.flatMap(({ kubernetes, protocol }) =>
    kubernetes === undefined || protocol === undefined
      ? []
      : [[kubernetes.field, protocol] as const],
  ),
);
