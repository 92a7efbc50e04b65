import type { TunnelSettings } from "../../runtime/backends/dynamic/tunnels.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { span } from "../manifests/field-types.ts";
import type { BackendConnection, TcpConnection } from "../model/connections.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { HTTP_SERVER } from "../model/traffic.ts";
import { addressRanges } from "../schema/address-ranges.ts";
import { parseTimer } from "../schema/duration.ts";
import {
  duration,
  expression,
  type Infer,
  integer,
  list,
  object,
  type Schema,
} from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import type { BackendResolveContext } from "./parts/backend-resolve-context.ts";
import { resolveConnection, resolveTcpConnection } from "./parts/connection.ts";
import {
  checkResult,
  type ExpectedResult,
  type ExpressionConfig,
  resolveExpression,
} from "./parts/expressions.ts";
import { resolveOfRequest } from "./parts/known-identities.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `dynamic` as configured. */
interface DynamicConfig {
  /** Expression for the destination of a request; `undefined` if requests name it. */
  readonly target: ExpressionConfig | undefined;
  /** Default port; `undefined` for that of the scheme. */
  readonly port: number | undefined;
  readonly allowPrivate: readonly string[];
  readonly tunnels: TunnelsConfig | undefined;
}

/** Tunnels that clients may open. */
interface TunnelsConfig {
  readonly settings: TunnelSettings;
  readonly origin: Origin;
}

/** Destinations that clients choose, with the ports and addresses that are allowed. */
interface Destinations<Connection> {
  readonly kind: "dynamic";
  /** Port if the client names none. */
  readonly port: number;
  /** Non-public addresses and ranges that are allowed. */
  readonly allowPrivate: readonly string[];
  readonly connection: Connection;
  /** Expression for the destination; `undefined` if requests or connections name it. */
  readonly target: CompiledExpression | undefined;
  /** `undefined` if clients cannot open tunnels. */
  readonly tunnels: TunnelSettings | undefined;
  readonly origin: Origin;
}

/** Forwards to the host that each request or TLS connection names (dynamic forward proxy). */
export const dynamic: Backend<
  "dynamic",
  DynamicValue,
  DynamicConfig,
  Destinations<BackendConnection>,
  Destinations<TcpConnection>,
  DynamicValue
> = {
  kind: "dynamic",
  summary: "forwards each request to the host that it names, as a forward proxy",
  schema: () => httpSchema("request (Host)", "80, or 443 with backendTLS", duration(IDLE_TIMEOUT)),
  tcpSchema: dynamicSchema("TLS connection (SNI)", "443"),
  lower: lowerDynamic,
  kubernetes: {
    field: "dynamicForwardProxy",
    schema: () =>
      httpSchema(
        "request (Host) or TLS connection (SNI)",
        "80, or 443 with TLS",
        span(IDLE_TIMEOUT),
      ),
    lower: (proxy, context) => ({ config: lowerDynamic(proxy, context), sections: new Map() }),
  },
  protocol: "http",
  carries: () => [{ traffic: ["forwards", ...HTTP_SERVER] }],
  chosenBy: ({ target }) => (target === undefined ? "host" : "expression"),
  tunnelPorts: ({ tunnels }) => tunnels?.ports,
  names: ["upstream", "destinations", "tunnels", "destinationOf"],
  resolve: (
    { config: { port, target, allowPrivate, tunnels }, policies = {}, origin },
    context,
  ) => {
    const { auth } = policies;
    const connection = resolveConnection(policies, context);
    const isPlain = auth?.kind === "passthrough" && auth.place === undefined;
    if (auth !== undefined && (!isPlain || auth.more !== undefined)) {
      context.diagnostics.report("dynamic-credential", keyPlace(auth.origin), {});
    }
    const isChosen = target !== undefined;
    if (!isChosen && tunnels === undefined && port === undefined && connection.tls === undefined)
      context.diagnostics.report("no-tunnels", keyPlace(origin), {});
    const chosen = target && resolveTarget(target, context);
    if (isChosen && chosen === undefined) return undefined;
    return {
      kind: "dynamic",
      target: chosen,
      port: port ?? (connection.tls === undefined ? 80 : 443),
      allowPrivate: allowPrivate.toSorted(),
      connection,
      tunnels: tunnels?.settings,
      origin,
    };
  },
  resolveTcp: ({ config, policies = {}, origin }, context) => {
    const { port = 443, target, allowPrivate, tunnels } = config;
    const chosen = target && resolveTcpTarget(target, context.diagnostics);
    if (target !== undefined && chosen === undefined) return undefined;
    if (tunnels !== undefined) {
      const params = { field: '"connect"', actsOn: "requests", found: "connections" };
      context.diagnostics.report("misplaced-field", keyPlace(tunnels.origin), params);
    }
    return {
      kind: "dynamic",
      target: chosen,
      port,
      allowPrivate: allowPrivate.toSorted(),
      connection: resolveTcpConnection(policies, context),
      tunnels: undefined,
      origin,
    };
  },
  describe: ({ target }) => [
    { label: target === undefined ? "the host of each request" : `the host of ${target.source}` },
  ],
  describeTcp: ({ target }) => ({
    label: target === undefined ? "the server of each connection" : `the host of ${target.source}`,
  }),
  tryCommand: (request) =>
    curlCommand({ ...request, origin: `http://${request.namedHost ?? "example.com"}` }, [
      "-x",
      request.origin,
    ]),
};

const DESTINATION: ExpectedResult = {
  expected: "a string: host:port",
  isOfType: (type) => type === "string",
  isGood: (value) => /^(?:\[[^\]]+\]|[^:[\]/]+)(?::\d{1,5})?$/.test(String(value)),
};

/** Compiles the expression of a destination; returns `undefined` if it is invalid (reported). */
function resolveTarget(
  target: ExpressionConfig,
  context: BackendResolveContext,
): CompiledExpression | undefined {
  const compiled = resolveOfRequest(target, { phase: "request", slot: "value" }, context);
  const isValid =
    compiled !== undefined &&
    checkResult(compiled, DESTINATION, target.origin, context.diagnostics);
  return isValid ? compiled : undefined;
}

/** Compiles the expression of a connection's destination; returns `undefined` if it is invalid (reported). */
function resolveTcpTarget(
  target: ExpressionConfig,
  diagnostics: Diagnostics,
): CompiledExpression | undefined {
  const compiled = resolveExpression(target, { phase: "request", slot: "value" }, diagnostics);
  if (compiled === undefined) return undefined;
  const unknown = compiled.reads.find(([first]) => first !== "source" && first !== "destination");
  if (unknown !== undefined) {
    const params = { variable: unknown.join("."), hasDestination: true };
    diagnostics.report("needs-source", target.origin, params);
    return undefined;
  }
  return checkResult(compiled, DESTINATION, target.origin, diagnostics) ? compiled : undefined;
}

/**
 * Returns the schema of a dynamic forward proxy. The specification has no fields for it; ours only extend what is
 * allowed. `defaults` describes the default port.
 */
function dynamicSchema(namedBy: string, defaults: string) {
  const target = expression(
    "CEL expression over `source` and `destination` for the destination of a connection, as `host:port`, instead of its server name. Without a value, the connection is closed.",
  );
  return object(
    { ...dynamicFields(namedBy, defaults), target },
    {
      description: `Forwards each ${namedBy} to the host that it names, or to that of an expression.`,
    },
  );
}

/** Returns the schema for requests, which may also open tunnels. */
function httpSchema(namedBy: string, defaults: string, idleTimeout: Schema<string>) {
  return object(
    {
      ...dynamicFields(namedBy, defaults),
      target: expression(
        "CEL expression for the destination of a request, as `host:port`, instead of the host that it names. The host of the request stays. Without a value, the response is 502.",
      ),
      connect: object(
        {
          ports: list(integer("A port.", 1, 65535), {
            minItems: 1,
            maxItems: 64,
            uniqueItems: true,
            description: "Ports that tunnels may connect to; 443 by default.",
          }),
          idleTimeout,
          maxTunnels: integer("Maximum number of concurrent tunnels.", 1, 100_000, {
            default: 1000,
          }),
        },
        {
          description:
            "Lets clients open tunnels with CONNECT, as for https through a proxy. Rules see the method CONNECT, the host " +
            "with its port, and the path `/`, but not the content of the tunnel. Without it, CONNECT is answered 501.",
        },
      ),
    },
    {
      atMostOneOf: ["target", "connect"],
      description: `Forwards each ${namedBy} to the host that it names, or to that of an expression.`,
    },
  );
}

const IDLE_TIMEOUT = "How long an idle tunnel stays open; 10m by default.";

function dynamicFields(namedBy: string, defaults: string) {
  return {
    port: integer(`Port for a ${namedBy} that names none; ${defaults} by default.`, 1, 65535),
    allowPrivate: addressRanges(
      "Non-public addresses that are allowed. Loopback, private and link-local addresses are refused " +
        "otherwise. A cloud's metadata address must be listed individually.",
    ),
  };
}

type DynamicValue = Infer<ReturnType<typeof httpSchema>>;

function lowerDynamic(
  { port, target, allowPrivate = [], connect }: DynamicValue,
  { origin }: { readonly origin: Origin },
): DynamicConfig {
  return {
    port,
    target: target === undefined ? undefined : { text: target, origin: childOf(origin, "target") },
    allowPrivate,
    tunnels: connect && {
      settings: {
        ports: connect.ports ?? [443],
        idleTimeout: parseTimer(connect.idleTimeout ?? "10m") ?? 0,
        max: connect.maxTunnels ?? 1000,
      },
      origin: childOf(origin, "connect"),
    },
  };
}
