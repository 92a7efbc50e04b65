import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxy-protocol.ts";
import { type FrontendConfig, type FrontendsOfPorts, frontendOfPort } from "../config/frontend.ts";
import type { GatewayResource, ListenerResource } from "../config/resources.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";

/** Returns the proxy protocol settings of a port; `undefined` if it accepts none. */
export function proxyProtocolOf(
  listeners: readonly ListenerResource[],
  gateway: FrontendsOfPorts,
): ProxyProtocolSettings | undefined {
  const frontend = frontendOfPort(gateway, listeners[0]?.port ?? 0);
  const own = listeners[0]?.tunnel?.protocol;
  if (own === "direct") return undefined;
  if (own === undefined) return frontend.proxyProtocol?.settings;
  return frontend.proxyProtocol?.settings ?? DEFAULT;
}

/** Defaults of the policy. */
const DEFAULT: ProxyProtocolSettings = { versions: [2] };

/** Reports proxy protocol settings that no port uses, and ports on which every client could pose as a proxy. */
export function checkProxies(
  { listeners, ...gateway }: GatewayResource,
  diagnostics: Diagnostics,
): void {
  const byFrontend = Map.groupBy(listeners, ({ port }) => frontendOfPort(gateway, port));
  for (const [frontend, own] of byFrontend) checkProxiesOf(frontend, own, diagnostics);
}

function checkProxiesOf(
  frontend: FrontendConfig,
  listeners: readonly ListenerResource[],
  diagnostics: Diagnostics,
): void {
  const { proxyProtocol } = frontend;
  const isUsed = listeners.some(({ tunnel }) => tunnel?.protocol !== "direct");
  if (proxyProtocol !== undefined && !isUsed && listeners.length > 0) {
    diagnostics.report("misplaced-field", keyPlace(proxyProtocol.origin), {
      field: `"${proxyProtocol.origin.path.at(-1)}"`,
      actsOn: "ports that proxies connect to",
      found: "ports with `tunnelProtocol: direct`",
    });
  }
  if (proxyProtocol?.settings.trustedSources !== undefined) return;
  const own = listeners.find(({ tunnel }) => tunnel?.protocol === "proxy")?.tunnel;
  const at = proxyProtocol?.origin ?? own?.origin;
  if (at !== undefined && isUsed) diagnostics.report("proxy-of-anyone", keyPlace(at), {});
}
