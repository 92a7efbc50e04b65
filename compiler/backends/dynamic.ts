import type { TunnelSettings } from "../../runtime/backends/dynamic/tunnels.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { span } from "../manifests/field-types.ts";
import type { BackendConnection, TcpConnection } from "../model/connections.ts";
import { HTTP_SERVER } from "../model/traffic.ts";
import { addressRanges } from "../schema/address-ranges.ts";
import { parseTimer } from "../schema/duration.ts";
import {
  duration,
  type Infer,
  integer,
  list,
  object,
  type Schema,
  unsupportedBut,
} from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import { resolveConnection, resolveTcpConnection } from "./parts/connection.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `dynamic` as configured. */
interface DynamicConfig {
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
  isOpenProxy: true,
  tunnelPorts: ({ tunnels }) => tunnels?.ports,
  names: ["upstream", "destinations", "tunnels"],
  resolve: ({ config: { port, allowPrivate, tunnels }, policies = {}, origin }, context) => {
    const { auth } = policies;
    const connection = resolveConnection(policies, context);
    const isPlain = auth?.kind === "passthrough" && auth.place === undefined;
    if (auth !== undefined && (!isPlain || auth.more !== undefined)) {
      context.diagnostics.report("dynamic-credential", keyPlace(auth.origin), {});
    }
    if (tunnels === undefined && port === undefined && connection.tls === undefined)
      context.diagnostics.report("no-tunnels", keyPlace(origin), {});
    return {
      kind: "dynamic",
      port: port ?? (connection.tls === undefined ? 80 : 443),
      allowPrivate: allowPrivate.toSorted(),
      connection,
      tunnels: tunnels?.settings,
      origin,
    };
  },
  resolveTcp: ({ config, policies = {}, origin }, context) => {
    const { port = 443, allowPrivate, tunnels } = config;
    if (tunnels !== undefined) {
      const params = { field: '"connect"', actsOn: "requests", found: "connections" };
      context.diagnostics.report("misplaced-field", keyPlace(tunnels.origin), params);
    }
    return {
      kind: "dynamic",
      port,
      allowPrivate: allowPrivate.toSorted(),
      connection: resolveTcpConnection(policies, context),
      tunnels: undefined,
      origin,
    };
  },
  describe: () => [{ label: "the host of each request" }],
  describeTcp: () => ({ label: "the server of each connection" }),
  tryCommand: (request) =>
    curlCommand({ ...request, origin: `http://${request.namedHost ?? "example.com"}` }, [
      "-x",
      request.origin,
    ]),
};

/**
 * Returns the schema of a dynamic forward proxy. The specification has no fields for it; ours only extend what is
 * allowed. `defaults` describes the default port.
 */
function dynamicSchema(namedBy: string, defaults: string) {
  return object(dynamicFields(namedBy, defaults), {
    description: `Forwards each ${namedBy} to the host that it names.`,
  });
}

/** Returns the schema for requests, which may also open tunnels. */
function httpSchema(namedBy: string, defaults: string, idleTimeout: Schema<string>) {
  return object(
    {
      ...dynamicFields(namedBy, defaults),
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
    { description: `Forwards each ${namedBy} to the host that it names.` },
  );
}

const IDLE_TIMEOUT = "How long an idle tunnel stays open; 10m by default.";

function dynamicFields(namedBy: string, defaults: string) {
  return {
    port: integer(`Port for a ${namedBy} that names none; ${defaults} by default.`, 1, 65535),
    target: unsupportedBut(
      "destinations by an expression",
      "let clients name the host, or write a route with a `host` backend for each destination",
    ),
    allowPrivate: addressRanges(
      "Non-public addresses that are allowed. Loopback, private and link-local addresses are refused " +
        "otherwise. A cloud's metadata address must be listed individually.",
    ),
  };
}

type DynamicValue = Infer<ReturnType<typeof httpSchema>>;

function lowerDynamic(
  { port, allowPrivate = [], connect }: DynamicValue,
  { origin }: { readonly origin: Origin },
): DynamicConfig {
  return {
    port,
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
