import type { BackendLine } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import { shownText } from "../model/texts.ts";
import type { BackendKind, BackendNode, TcpBackendNode } from "./backends.ts";

/** Text for the servers of a route that responds itself. */
export const NO_BACKEND = "no backend";

/** Lists all servers of a route: `http://a:80, http://b:80`. */
export function backendText(backends: readonly BackendNode[]): string {
  const lines = backends.flatMap((node) => serverTexts(node));
  return lines.length === 0 ? NO_BACKEND : lines.join(", ");
}

/** Lists all servers of a connection route. */
export function tcpBackendText(backends: readonly TcpBackendNode[]): string {
  const lines = backends.map((node) => tcpServerText(node));
  return lines.length === 0 ? NO_BACKEND : lines.join(", ");
}

function tcpServerText<Kind extends BackendKind>(node: TcpBackendNode<Kind>): string {
  return lineText(backendOf<Kind>(node.kind).describeTcp?.(node) ?? {});
}

/** Lists the servers of a backend by name and address: `files streamable: http://127.0.0.1:9/mcp`. */
function serverTexts<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  return backendOf(node.kind).describe(node).map(lineText);
}

function lineText({ label, address }: BackendLine): string {
  const where = address === undefined ? "" : shownText(address);
  return [label, where].filter((each) => each !== undefined && each !== "").join(" ");
}

/** Lists the servers of an MCP backend that receive requests, by name. */
export function servedTargets(node: BackendNode): readonly string[] {
  return "weight" in node && node.weight === 0 ? [] : mcpTargets(node);
}

/** Lists the servers of an MCP backend, by name. */
export function mcpTargets<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  const unit = backendOf(node.kind);
  return unit.protocol === "mcp" ? unit.describe(node).flatMap(({ label }) => label ?? []) : [];
}
