import type { Origin } from "../diagnostics/diagnostic.ts";

/** What passes a gateway, on either side of it. */
interface TrafficKind {
  /** What messages call it. */
  readonly words: string;
  /** Where it passes: sections of one side are told what else is there. */
  readonly side: "client" | "message" | "backend";
}

const kinds = {
  connections: { words: "connections of clients", side: "client" },
  handshakes: { words: "TLS handshakes of clients", side: "client" },
  tls: { words: "TLS that ends here", side: "client" },
  https: { words: "HTTPS", side: "client" },
  endedTls: { words: "TLS that ends here and whose connections are passed on", side: "client" },
  requests: { words: "HTTP requests", side: "message" },
  streams: { words: "connections", side: "message" },
  forwards: { words: "plain HTTP requests", side: "message" },
  shares: { words: "requests that backends share", side: "message" },
  mcp: { words: "MCP messages", side: "message" },
  mcpServers: { words: "requests to MCP servers", side: "message" },
  llm: { words: "requests to models", side: "message" },
  countedCalls: { words: "requests to models whose tokens are counted", side: "message" },
  llmCalls: { words: "calls of models", side: "message" },
  llmOthers: { words: "sessions with models and lists of them", side: "message" },
  tokenLimits: { words: "limits of tokens (`localRateLimit`)", side: "message" },
  upstreams: { words: "connections to backends", side: "backend" },
  upstreamTls: { words: "TLS to backends", side: "backend" },
  upstreamRequests: { words: "HTTP requests to backends", side: "backend" },
  namedServers: { words: "connections to servers of the configuration", side: "backend" },
  children: { words: "child processes", side: "backend" },
} as const satisfies Readonly<Record<string, TrafficKind>>;

/** What a section of a configuration may act on, and a listener, route or backend may have. */
export type Traffic = keyof typeof kinds;

/** A part of a configuration as it is written, and what it is about. */
export interface Section {
  /** As the configuration calls it. */
  readonly name: string;
  /** Any of these will do. */
  readonly actsOn: readonly Traffic[];
  readonly origin: Origin;
}

/** What a server has that is reached by HTTP requests, whatever they carry, and whoever says where it is. */
export const HTTP_SERVER: readonly Traffic[] = ["upstreams", "upstreamTls", "upstreamRequests"];

/** The same of one that the configuration names. */
export const NAMED_SERVER: readonly Traffic[] = [...HTTP_SERVER, "namedServers"];

/** `MCP messages`; the words of each, once, joined. */
export function trafficText(traffic: readonly Traffic[]): string {
  return [...new Set(traffic)].map((each) => kinds[each].words).join(" and ");
}

/** What every message is at first, and what is said of several backends: what else becomes of it says more. */
const BESIDES: readonly Traffic[] = ["requests", "shares", "mcpServers", "llm"];

/** What is there of the side that a section acts on; undefined: nothing. */
export function foundText(
  actsOn: readonly Traffic[],
  carried: readonly Traffic[],
): string | undefined {
  // Of a connection that is passed on nothing else is known.
  if (carried.includes("streams")) return kinds.streams.words;
  const sides = actsOn.map((each): string => kinds[each].side);
  const same = carried.filter((each) => sides.includes(kinds[each].side));
  const found = same.filter((each) => !BESIDES.includes(each) || same.length === 1);
  return found.length === 0 ? undefined : trafficText(found);
}
