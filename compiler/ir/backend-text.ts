import type { BackendLine } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import { shownText } from "../model/texts.ts";
import type { BackendKind, BackendNode, TcpBackendNode } from "./backends.ts";

/** What stands for the servers of a route that answers by itself. */
export const NO_BACKEND = "no backend";

/** Every server of a route: `http://a:80, http://b:80`. */
export function backendText(backends: readonly BackendNode[]): string {
  const lines = backends.flatMap((node) => serverTexts(node));
  return lines.length === 0 ? NO_BACKEND : lines.join(", ");
}

/** Every server of a route of connections, in the same way. */
export function tcpBackendText(backends: readonly TcpBackendNode[]): string {
  const lines = backends.map((node) => tcpServerText(node));
  return lines.length === 0 ? NO_BACKEND : lines.join(", ");
}

function tcpServerText<Kind extends BackendKind>(node: TcpBackendNode<Kind>): string {
  return lineText(backendOf<Kind>(node.kind).describeTcp?.(node) ?? {});
}

/** The servers of a backend, each as its name and address: `files streamable: http://127.0.0.1:9/mcp`. */
export function serverTexts<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  return backendOf(node.kind).describe(node).map(lineText);
}

function lineText({ label, address }: BackendLine): string {
  const where = address === undefined ? "" : shownText(address);
  return [label, where].filter((each) => each !== undefined && each !== "").join(" ");
}

/** The servers behind an MCP backend that gets requests, by name. */
export function servedTargets(node: BackendNode): readonly string[] {
  return "weight" in node && node.weight === 0 ? [] : mcpTargets(node);
}

/** The servers behind an MCP backend, by name. */
export function mcpTargets<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  const unit = backendOf(node.kind);
  return unit.protocol === "mcp" ? unit.describe(node).flatMap(({ label }) => label ?? []) : [];
}
