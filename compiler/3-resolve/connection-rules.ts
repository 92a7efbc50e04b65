import type { FrontendConfig, FrontendsOfPorts } from "../config/frontend.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { PortNode } from "../ir/port.ts";
import { checkConnectionCheck } from "../policies/connection-check.ts";
import { checkConnectionRules } from "../policies/connection-rules.ts";
import type { ListenerContext } from "./listeners.ts";
import { resolvePolicy, withoutRoute } from "./policies.ts";

/** Resolves the rules for connections, and the server that is asked about them; parts with mistakes are omitted (reported). */
export function resolveAdmission(
  { connectionRules, connectionCheck }: FrontendConfig,
  context: ListenerContext,
): readonly PolicyUse[] {
  const place = { ...withoutRoute, isOfConnections: true } as const;
  const rules = connectionRules && resolvePolicy(connectionRules, place, context);
  if (rules !== undefined) checkConnectionRules(rules.settings, context.diagnostics);
  const check = connectionCheck && resolvePolicy(connectionCheck, place, context);
  if (check !== undefined) checkConnectionCheck(check.settings, context.diagnostics);
  return [rules ?? [], check ?? []].flat();
}

/** Returns the settings of a port's connections; empty if they are those of the gateway. */
export function connectionsOfPort(
  port: number,
  gateway: FrontendsOfPorts,
): Pick<PortNode, "connections"> {
  const own = gateway.portFrontends?.get(port);
  return own === undefined ? {} : { connections: own.connections };
}
