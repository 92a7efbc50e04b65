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
  const page = (handle: ServerHandlers["handle"]): ServerHandlers => {
    const nothing = () => {};
    return {
      handle,
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
