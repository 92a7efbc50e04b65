import type { ServerHandlers } from "../http/engine/server-handlers.ts";
import type { Exchange, Handled } from "../http/exchange.ts";
import { notFound } from "../http/refuse.ts";
import { EXPOSITION_TYPE } from "../metrics/family.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { ServiceAddresses } from "./definition.ts";
import { type Endpoint, serviceEndpoint } from "./listeners.ts";
import { reportBug } from "./report-bug.ts";

/** Pages about the process. */
export interface ServicePages {
  readonly addresses: ServiceAddresses;
  /** Address of pages that have only a port. */
  readonly defaultAddress: string;
  readonly connections: ConnectionSettings;
  /** Returns the metrics in the Prometheus text format. */
  readonly figures: () => string | Promise<string>;
  readonly context: Pick<GatewayContext, "isDraining">;
  /** Whether everything that the gateway waits for has arrived; absent if it waits for nothing. */
  readonly isReady?: () => boolean | Promise<boolean>;
}

/** Returns the endpoints of the metrics and readiness pages. */
export function serviceEndpoints(settings: ServicePages): readonly Endpoint[] {
  const { addresses, defaultAddress, connections, figures, context, isReady } = settings;
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
  const pages = {
    stats: page(statsPage(figures)),
    readiness: page(readinessPage(context, isReady)),
  } as const satisfies Record<keyof ServiceAddresses, ServerHandlers>;
  return (["stats", "readiness"] as const).flatMap((name) => {
    const address = addresses[name];
    return address === "off" ? [] : serviceEndpoint(address, defaultAddress, name, pages[name]);
  });
}

/**
 * Restricts pages to this machine. A site that resolves its own name to a loopback address (DNS rebinding) must not read them,
 * so Host must be an address.
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

/** Serves `/metrics` on the stats address, in the Prometheus text format. */
function statsPage(figures: () => string | Promise<string>): (exchange: Exchange) => Handled {
  return async (exchange) => {
    if (exchange.path !== "/metrics" && exchange.path !== "/stats/prometheus") {
      notFound(exchange);
      return;
    }
    exchange.respond(200, ["content-type", EXPOSITION_TYPE], await figures());
  };
}

/**
 * Serves `/healthz/ready` on the readiness address: 200 while the gateway can take requests, 503 while it waits for something
 * and once it shuts down.
 */
function readinessPage(
  context: Pick<GatewayContext, "isDraining">,
  isReady: () => boolean | Promise<boolean> = () => true,
): (exchange: Exchange) => Handled {
  return async (exchange) => {
    if (exchange.path !== "/healthz/ready") {
      notFound(exchange);
      return;
    }
    const type = ["content-type", "text/plain; charset=utf-8"];
    if (context.isDraining) exchange.respond(503, type, "draining\n");
    else if (!(await isReady())) exchange.respond(503, type, "waiting\n");
    else exchange.respond(200, type, "ready\n");
  };
}
