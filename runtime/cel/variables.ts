/**
 * The CEL variables of a request, as emitted expressions read them. `Exchange` has this shape, so a rule reads the
 * request itself and nothing is copied.
 */
export interface RequestVariables {
  /** `request.method`, as sent. */
  readonly method: string;
  /** `request.scheme`. */
  readonly scheme: "http" | "https";
  /** `request.host`: the authority as sent, lower case, with its port when it has one. */
  readonly host: string;
  /** `request.path`: the path of the target without the query, as routed and forwarded. */
  readonly path: string;
  /** `request.pathAndQuery`: the target in origin form. */
  readonly pathAndQuery: string;
  /** `request.uri`: scheme, authority and target. */
  readonly uri: string;
  /** `request.version`: `HTTP/1.1` or `HTTP/2`. */
  readonly version: string;
  /** Milliseconds since the epoch at which the head of the request had arrived: `request.startTime`. */
  readonly startTime: number;
  /** One header by lower-case name: its value, several values joined by `, `, or undefined when it is not there. */
  header(name: string): string | undefined;
  /** Every header by lower-case name, several values joined by `, `: `request.headers` used as a whole. */
  headerMap(): ReadonlyMap<string, string>;
  /** The peer: `source.address` and `source.port`. */
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** A JSON object that came from outside: claims, key metadata. Read own properties only. */
export type JsonObject = { readonly [name: string]: unknown };

/** `jwt`, and `auth.claims`: the claims of the verified token, or null without one. */
export type JwtVariable = JsonObject | null;

/** `mcp`: the tool, prompt or resource that is listed or called; exactly one of the three is there. */
export interface McpVariables {
  readonly tool?: McpItem;
  readonly prompt?: McpItem;
  readonly resource?: McpItem;
  /** The JSON-RPC method: `tools/call`, ... */
  readonly methodName: string;
}

/** One MCP item in a rule: the name without the target's prefix (a resource's URI), and the target. */
export interface McpItem {
  readonly name: string;
  readonly target: string;
}
