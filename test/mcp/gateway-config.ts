/** What a test asks of a gateway, in the words of the configuration file. */
export interface GatewayFixture {
  readonly routes: readonly RouteFixture[];
}

/** One MCP route. */
export interface RouteFixture {
  readonly name: string;
  /** `/mcp` when absent. */
  readonly path?: string;
  readonly targets: readonly TargetFixture[];
  /** mcpAuthorization.rules; see test/fixtures/mcp/rules.ts. */
  readonly rules?: readonly string[];
  readonly allowOrigins?: readonly string[];
  readonly credentials?: "forward" | "withhold";
  readonly failureMode?: "failClosed" | "failOpen";
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly limits?: Readonly<Record<string, number>>;
}

/** One target: exactly one of the three. */
export interface TargetFixture {
  readonly name: string;
  readonly mcp?: { readonly host: string };
  readonly sse?: { readonly host: string };
  readonly stdio?: {
    readonly cmd: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}
