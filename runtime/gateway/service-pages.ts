import type { Exchange, Handled } from "../http/exchange.ts";
import { notFound } from "../http/refuse.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { EXPOSITION_TYPE } from "../telemetry/metrics/family.ts";

/** `/metrics` on the stats address: figures in the Prometheus text format. */
export function statsPage(
  figures: () => string | Promise<string>,
): (exchange: Exchange) => Handled {
  return async (exchange) => {
    if (exchange.path !== "/metrics" && exchange.path !== "/stats/prometheus") {
      notFound(exchange);
      return;
    }
    exchange.respond(200, ["content-type", EXPOSITION_TYPE], await figures());
  };
}

/**
 * `/healthz/ready` on the readiness address: 200 while requests are wanted, 503 while something is waited for and from the
 * moment the drain begins.
 */
export function readinessPage(
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
