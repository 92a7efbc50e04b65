/** One MCP route, in the words of the configuration file. */
export interface RouteConfig {
  readonly name: string;
  /** `/mcp` when absent. */
  readonly path?: string;
  readonly targets: readonly TargetConfig[];
  readonly failureMode?: "failClosed" | "failOpen";
  /** Of the backend. */
  readonly sessions?: object;
  readonly statefulMode?: "stateful" | "stateless";
  /** mcpAuthorization.rules. */
  readonly rules?: readonly (string | object)[];
  /** cors.allowOrigins. */
  readonly allowOrigins?: readonly string[];
  /** True: a client may have a token (see subjects.ts). */
  readonly hasSubjects?: boolean;
}

/** One target: exactly one of the three. */
export interface TargetConfig {
  readonly name: string;
  /** Absent: the gateway finds out. */
  readonly era?: "sessions" | "stateless";
  readonly mcp?: { readonly host: string };
  readonly sse?: { readonly host: string };
  readonly stdio?: {
    readonly cmd: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}

/** A route with what only generated code can be told. */
export interface RouteFixture extends RouteConfig {
  readonly credentials?: "forward" | "withhold";
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly limits?: Readonly<Record<string, number>>;
}

/** What a hand-written gateway serves. */
export interface GatewayFixture {
  readonly routes: readonly RouteFixture[];
}
