import {
  kubernetesHeaderChangesSchema,
  readKubernetesHeaderChanges,
} from "../../../backends/parts/header-changes.ts";
import { childOf, type Diagnostics, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { RouteRule } from "../../../manifests/routes.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import type { BackendHeaders } from "../../../model/server-policies.ts";
import { validated } from "../../../schema/schema.ts";

/** Reports filters that occur twice; only mirrors may (Gateway API). */
export function checkFilters(
  what: "a rule" | "a backend",
  { filters = [] }: Pick<RouteRule, "filters">,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const seen = new Set<unknown>();
  filters.forEach(({ type }, index) => {
    const at = childOf(origin, "filters", index, "type");
    if (seen.has(type) && type !== "RequestMirror") {
      const message = `${what} can only have one filter of type ${String(type)}`;
      diagnostics.report("broken-rule", at, { message });
    }
    seen.add(type);
    const isEither = type === "RequestRedirect" || type === "URLRewrite";
    if (isEither && seen.has("RequestRedirect") && seen.has("URLRewrite")) {
      const message = "a rule cannot have both a RequestRedirect and a URLRewrite filter";
      diagnostics.report("broken-rule", at, { message });
    }
  });
}

/** Returns the header changes that the filters of a backendRef make. */
export function backendHeaders(
  { filters = [] }: Pick<RouteRule, "filters">,
  origin: Origin,
): Pick<BackendPolicies, "requestHeaders" | "responseHeaders"> {
  const changes = (field: string): BackendHeaders | undefined => {
    const index = filters.findIndex((filter) => Object.hasOwn(filter, field));
    if (index < 0) return undefined;
    const at = childOf(origin, "filters", index, field);
    const value = validated(kubernetesHeaderChangesSchema, filters[index]?.[field]);
    return { ...readKubernetesHeaderChanges(value, at), origin: at };
  };
  const requestHeaders = changes("requestHeaderModifier");
  const responseHeaders = changes("responseHeaderModifier");
  return {
    ...(requestHeaders && { requestHeaders }),
    ...(responseHeaders && { responseHeaders }),
  };
}
