import type { Origin } from "../diagnostics/diagnostic.ts";

/** A kind of traffic through a gateway, on either side. */
interface TrafficKind {
  /** Name in messages. */
  readonly words: string;
  /** Side of the gateway: messages about a section list the other traffic on its side. */
  readonly side: "client" | "message" | "backend";
}

const kinds = {
  connections: { words: "client connections", side: "client" },
  handshakes: { words: "TLS handshakes with clients", side: "client" },
  tls: { words: "terminated TLS", side: "client" },
  https: { words: "HTTPS", side: "client" },
  endedTls: { words: "terminated TLS connections that are forwarded", side: "client" },
  requests: { words: "HTTP requests", side: "message" },
  streams: { words: "connections", side: "message" },
  forwards: { words: "plain HTTP requests", side: "message" },
  shares: { words: "requests that several backends share", side: "message" },
  mcp: { words: "MCP messages", side: "message" },
  mcpServers: { words: "requests to MCP servers", side: "message" },
  llm: { words: "requests to models", side: "message" },
  countedCalls: { words: "requests to models whose tokens are counted", side: "message" },
  llmCalls: { words: "model calls", side: "message" },
  passedCalls: { words: "requests that are passed through to models", side: "message" },
  llmOthers: { words: "model sessions and model lists", side: "message" },
  tokenLimits: { words: "token limits (`localRateLimit`)", side: "message" },
  upstreams: { words: "connections to backends", side: "backend" },
  upstreamTls: { words: "TLS to backends", side: "backend" },
  upstreamRequests: { words: "HTTP requests to backends", side: "backend" },
  namedServers: { words: "connections to servers in the configuration", side: "backend" },
  children: { words: "child processes", side: "backend" },
} as const satisfies Readonly<Record<string, TrafficKind>>;

/** A kind of traffic that a section applies to, and that a listener, route or backend may have. */
export type Traffic = keyof typeof kinds;

/** A part of the configuration, and the traffic that it applies to. */
export interface Section {
  /** Name in the configuration. */
  readonly name: string;
  /** Kinds of traffic, of which one is enough. */
  readonly actsOn: readonly Traffic[];
  /** Whether it may be without effect, which is a warning only. */
  readonly isOptional?: boolean;
  readonly origin: Origin;
}

/** Traffic of every server that is called over HTTP. */
export const HTTP_SERVER: readonly Traffic[] = ["upstreams", "upstreamTls", "upstreamRequests"];

/** Traffic of an HTTP server whose address is in the configuration. */
export const NAMED_SERVER: readonly Traffic[] = [...HTTP_SERVER, "namedServers"];

/** Whether a section only describes how servers are called. */
export function isOfCalls(actsOn: readonly Traffic[]): boolean {
  return actsOn.includes("mcpServers") || actsOn.every((each) => kinds[each].side === "backend");
}

/** Names kinds of traffic, each once: `MCP messages`. */
export function trafficText(traffic: readonly Traffic[]): string {
  return [...new Set(traffic)].map((each) => kinds[each].words).join(" and ");
}

/** General kinds of traffic, which messages omit if there are more specific ones. */
const BESIDES: readonly Traffic[] = ["requests", "shares", "mcpServers", "llm"];

/** Names the existing traffic on the side that a section applies to; `undefined` if there is none. */
export function foundText(
  actsOn: readonly Traffic[],
  carried: readonly Traffic[],
): string | undefined {
  // Nothing else is known about a forwarded connection.
  if (carried.includes("streams")) return kinds.streams.words;
  const sides = actsOn.map((each): string => kinds[each].side);
  const same = carried.filter((each) => sides.includes(kinds[each].side));
  const found = same.filter((each) => !BESIDES.includes(each) || same.length === 1);
  return found.length === 0 ? undefined : trafficText(found);
}
