/** One MCP route, with the names of the configuration file. */
export interface RouteConfig {
  readonly name: string;
  /** `/mcp` if absent. */
  readonly path?: string;
  readonly targets: readonly TargetConfig[];
  readonly failureMode?: "failClosed" | "failOpen";
  /** Sessions of the backend. */
  readonly sessions?: object;
  readonly statefulMode?: "stateful" | "stateless";
  /** mcpAuthorization.rules. */
  readonly rules?: readonly (string | object)[];
  /** cors.allowOrigins. */
  readonly allowOrigins?: readonly string[];
  /** Whether a client may have a token (see subjects.ts). */
  readonly hasSubjects?: boolean;
}

/** One target: exactly one of the three. */
export interface TargetConfig {
  readonly name: string;
  /** Absent if the gateway detects it. */
  readonly era?: "sessions" | "stateless";
  readonly mcp?: { readonly host: string };
  readonly sse?: { readonly host: string };
  readonly stdio?: {
    readonly cmd: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}

/** A route with settings that only generated code can have. */
export interface RouteFixture extends RouteConfig {
  readonly credentials?: "forward" | "withhold";
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly limits?: Readonly<Record<string, number>>;
}

/** The routes of a hand-written gateway. */
export interface GatewayFixture {
  readonly routes: readonly RouteFixture[];
}
