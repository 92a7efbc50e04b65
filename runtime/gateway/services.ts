import type { ServerHandlers } from "../http/engine/server-handlers.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { ServiceAddresses } from "./definition.ts";
import { type Endpoint, serviceEndpoint } from "./listeners.ts";
import { reportBug } from "./report-bug.ts";
import { readinessPage, statsPage } from "./service-pages.ts";

/** What the process says of itself. */
export interface ServicePages {
  readonly addresses: ServiceAddresses;
  /** Where those are open that are a port alone. */
  readonly defaultAddress: string;
  readonly connections: ConnectionSettings;
  /** In the Prometheus text format. */
  readonly figures: () => string | Promise<string>;
  readonly context: Pick<GatewayContext, "isDraining">;
  /** Whether it has everything that it waits for; absent: it waits for nothing. */
  readonly isReady?: () => boolean | Promise<boolean>;
}

/** Where the process serves its own state: metrics and readiness. */
export function serviceEndpoints(pages: ServicePages): readonly Endpoint[] {
  const { addresses, defaultAddress, connections, figures, context, isReady } = pages;
  const isOfThisMachine = isLoopbackName(defaultAddress);
  const page = (handle: ServerHandlers["handle"]): ServerHandlers => {
    const nothing = () => {};
    return {
      handle: isOfThisMachine ? forThisMachine(handle) : handle,
      began: nothing,
      isForwardProxy: false,
      takesTunnels: false,
      keepsPaths: false,
      connectionRules: undefined,
      denied: nothing,
      failedHandshake: nothing,
      proxyProtocol: undefined,
      division: undefined,
      handover: undefined,
      ended: nothing,
      failed: ({ method, path }, error) => reportBug(`${method} ${path}`, error),
      malformed: nothing,
      refused: nothing,
      warn: nothing,
      broken: undefined,
      connections,
    };
  };
  return [
    serviceEndpoint(addresses.stats, defaultAddress, "stats", page(statsPage(figures))),
    serviceEndpoint(
      addresses.readiness,
      defaultAddress,
      "readiness",
      page(readinessPage(context, isReady)),
    ),
  ];
}

/**
 * For pages that only this machine can ask for. A site that points its own name at a loopback address (DNS rebinding) is no
 * reader of them; an address as Host is never such a name.
 */
function forThisMachine(handle: ServerHandlers["handle"]): ServerHandlers["handle"] {
  return (exchange) => {
    const { hostname } = exchange;
    const isAddress = /^(?:[0-9.]+|\[.*)$/.test(hostname);
    if (hostname === "" || isAddress || isLoopbackName(hostname)) return handle(exchange);
    exchange.respond(403, ["content-type", "text/plain; charset=utf-8"], "only for this machine\n");
  };
}

function isLoopbackName(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.[0-9]+){3}|\[?::1\]?)$/i.test(host);
}
