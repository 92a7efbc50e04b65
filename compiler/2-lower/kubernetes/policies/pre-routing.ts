import { listenerTraffic } from "../../../config/sections.ts";
import { keyPlace } from "../../../diagnostics/diagnostic.ts";
import {
  type PolicyConfig,
  type PolicyKind,
  policies,
  policyConfig,
  policyOf,
} from "../../../policies/index.ts";
import type { KubernetesListener } from "../gateway/listeners.ts";
import { meetField } from "./applicable.ts";
import { listenerPolicy } from "./effective.ts";
import { PRE_ROUTING } from "./fields.ts";
import type { EffectiveField } from "./merge.ts";
import { readField } from "./policies.ts";
import type { PolicyContext } from "./policy-context.ts";
import { recordEffect } from "./policy-effects.ts";

/** Returns the policies of a listener that run before its routes, in request order. */
export function preRoutingPolicies(
  listener: KubernetesListener,
  context: PolicyContext,
): readonly PolicyConfig[] {
  // Policies on a Gateway do not apply to listeners of TCP routes.
  const { protocol } = listener.resource;
  if (protocol !== "HTTP" && protocol !== "HTTPS") return [];
  const fields = new Map(
    listenerPolicy(listener, context.policyIndex).map((each) => [each.field, each]),
  );
  for (const field of fields.values()) {
    recordEffect(field, listener.gateway, context);
    meetField(field, listenerTraffic(listener.resource), context.sections);
  }
  return policies.flatMap(({ kind }) => readPolicy(kind, fields, listener, context) ?? []);
}

function readPolicy<Kind extends PolicyKind>(
  kind: Kind,
  fields: ReadonlyMap<string, EffectiveField>,
  listener: KubernetesListener,
  context: PolicyContext,
): PolicyConfig<Kind> | undefined {
  const { kubernetes: form, scope } = policyOf(kind);
  const field = form && fields.get(form.field.replace("traffic.", PRE_ROUTING));
  if (form === undefined || field === undefined) return undefined;
  if (!isPreRouting(scope)) {
    reportPhase(field, context);
    return undefined;
  }
  const config = readField(form, field, listener.gateway, context);
  const origin = field.values.at(-1)?.origin;
  return config && origin && policyConfig(kind, config, origin);
}

function isPreRouting(scope: readonly string[]): boolean {
  return scope.includes("listener");
}

/** Reports a field that needs a route, or the call to a backend. */
function reportPhase({ values }: EffectiveField, context: PolicyContext): void {
  for (const { origin } of values) {
    const key = JSON.stringify(origin);
    if (context.reported.has(key)) continue;
    context.reported.add(key);
    const field = String(origin.path.at(-1));
    context.diagnostics.report("not-before-routing", keyPlace(origin), { field });
  }
}
