import { gatewaySummary } from "../../4-emit/manifest/gateway-summary.ts";
import { gatewayGraph } from "../../inspect/graph/gateway-graph.ts";
import { svgText } from "../../inspect/graph/svg.ts";
import { type Html, html, trustedHtml } from "./html.ts";
import type { LiveView } from "./view.ts";

/** Renders the graph of the gateway: listeners, their routes with policies, and the servers of the routes. */
export function picturePage({ current }: LiveView): Html {
  // Texts of the configuration are escaped where the picture is drawn.
  const picture = trustedHtml(svgText(gatewayGraph(gatewaySummary(current.program))));
  return html`<section class="card">${picture}</section>`;
}
