import type { PortCall, PortResult } from "./port-call.ts";

/** Address of an MCP route, and the credential for it. */
export type McpRoute = Pick<PortCall, "origin" | "target" | "headers">;

/** Name and version by which servers know the playground. */
export const PLAYGROUND_CLIENT = { name: "gwc playground", version: "1" };

/** Returns the request that sends a message. */
export function mcpPost(route: McpRoute, message: object): PortCall {
  const headers = [
    ...route.headers,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
  ];
  return {
    ...route,
    headers,
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  };
}

/** Whether a response is a stream of events. */
export function answersEvents({ headers }: Pick<PortResult, "headers">): boolean {
  return headers["content-type"]?.startsWith("text/event-stream") === true;
}
