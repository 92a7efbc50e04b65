import path from "node:path";
import { gatewaySummary } from "../4-emit/manifest/gateway-summary.ts";
import { locate } from "../diagnostics/source.ts";
import { gatewayGraph } from "../inspect/graph/gateway-graph.ts";
import { svgText } from "../inspect/graph/svg.ts";
import { servedRoutes } from "../ir/routes.ts";
import type { DocumentContext } from "./document-context.ts";
import { whoCanCall } from "./tool-access.ts";

/** Overview of a configuration, for a panel next to the text. */
export interface Overview {
  /** Name of the route at a line; absent if there is none. */
  readonly route?: string;
  /** Text about who may call its tools. */
  readonly access: string;
  /** Graph of the first gateway as SVG; empty if the configuration has mistakes. */
  readonly graph: string;
}

/** Returns the graph of the gateway, and the access to the route at a line of a document. */
export function overviewAt(context: DocumentContext, line: number): Overview {
  const { path: file, document, project } = context;
  const { programs = [], files = [] } = project?.checked ?? {};
  const [program] = programs;
  const graph = program === undefined ? "" : svgText(gatewayGraph(gatewaySummary(program)));
  const here = programs.flatMap(servedRoutes).find(({ route }) => {
    const found = locate(route.origin, files);
    if (path.resolve(found.path) !== file) return false;
    const [start, end] = [document.positionAt(found.start), document.positionAt(found.end)];
    return start.line <= line && line <= end.line;
  });
  if (project === undefined || here === undefined) return { access: "", graph };
  const { name, id } = here.route;
  return { route: name, access: whoCanCall(id, context), graph };
}
