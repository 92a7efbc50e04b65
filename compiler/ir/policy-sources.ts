import type { PolicySource } from "../policies/custom/read-policy.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { PolicyUse } from "./policies.ts";
import type { Program } from "./program.ts";
import { servedRoutes, servedTcpRoutes } from "./routes.ts";

/** Returns the modules of users that a program contains, each once, sorted by path. */
export function policySources(program: Program): readonly PolicySource[] {
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const used = [
    ...listeners.flatMap(({ preRouting }) => preRouting?.policies ?? []),
    ...servedRoutes(program).flatMap(({ route }) => route.policies),
    ...servedTcpRoutes(program).flatMap(({ route }) => route.policies),
  ];
  const byModule = new Map(used.flatMap(sourcesOf).map((source) => [source.module, source]));
  return [...byModule.values()].sort((a, b) => (a.module < b.module ? -1 : 1));
}

function sourcesOf<Kind extends PolicyKind>(use: PolicyUse<Kind>): readonly PolicySource[] {
  return policyOf(use.kind).traits.sources?.(use.settings) ?? [];
}
