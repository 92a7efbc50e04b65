import type { GatewayResource } from "../config/resources.ts";
import type { PolicyUse } from "../ir/policies.ts";
import { checkConnectionRules } from "../policies/connection-rules.ts";
import type { ListenerContext } from "./listeners.ts";
import { resolvePolicy, withoutRoute } from "./policies.ts";

/** Resolves the rules for connections; returns `undefined` if there are no rules or a mistake was reported. */
export function resolveConnectionRules(
  { frontend }: Pick<GatewayResource, "frontend">,
  context: ListenerContext,
): PolicyUse | undefined {
  const { connectionRules } = frontend;
  const use = connectionRules && resolvePolicy(connectionRules, withoutRoute, context);
  if (use !== undefined) checkConnectionRules(use.settings, context.diagnostics);
  return use;
}
