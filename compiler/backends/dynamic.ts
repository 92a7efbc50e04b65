import type { TunnelSettings } from "../../runtime/backends/dynamic/tunnels.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { span } from "../manifests/field-types.ts";
import type { BackendConnection, TcpConnection } from "../model/connections.ts";
import { HTTP_SERVER } from "../model/traffic.ts";
import { addressRanges } from "../schema/address-ranges.ts";
import { parseTimer } from "../schema/duration.ts";
import { duration, type Infer, integer, list, object, type Schema } from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import { resolveConnection, resolveTcpConnection } from "./parts/connection.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `dynamic` as configured. */
interface DynamicConfig {
  /** The port of a client that names none; undefined: what is usual. */
  readonly port: number | undefined;
  readonly allowPrivate: readonly string[];
  readonly tunnels: TunnelsConfig | undefined;
}

/** Tunnels that clients may open. */
interface TunnelsConfig {
  readonly settings: TunnelSettings;
  readonly origin: Origin;
}

/** The host that each client names, by its port and the addresses that it may have. */
interface Destinations<Connection> {
  readonly kind: "dynamic";
  /** The port of a client that names none. */
  readonly port: number;
  /** Addresses and ranges that may be reached although they are not public. */
  readonly allowPrivate: readonly string[];
  readonly connection: Connection;
  /** Undefined: clients open none. */
  readonly tunnels: TunnelSettings | undefined;
  readonly origin: Origin;
}

/** The host that each request, or TLS connection, names (dynamic forward proxy). */
export const dynamic: Backend<
  "dynamic",
  DynamicValue,
  DynamicConfig,
  Destinations<BackendConnection>,
  Destinations<TcpConnection>,
  DynamicValue
> = {
  kind: "dynamic",
  summary: "passes requests on to the host that each of them names: a forward proxy",
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
    if (auth !== undefined && auth.kind !== "passthrough") {
      context.diagnostics.report("dynamic-credential", keyPlace(auth.origin), {});
    }
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
    curlCommand({ ...request, origin: "http://example.com" }, ["-x", request.origin]),
};

/**
 * A dynamic forward proxy: the destination is what the client names. The specification gives it no fields; ours only
 * widen what is refused without them. `defaults`: the port of a destination that names none.
 */
function dynamicSchema(namedBy: string, defaults: string) {
  return object(dynamicFields(namedBy, defaults), {
    description: `The destination is the host that each ${namedBy} names.`,
  });
}

/** The same for requests, of which one may ask for a tunnel. */
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
            description: "The ports that tunnels may lead to. 443 by default.",
          }),
          idleTimeout,
          maxTunnels: integer("The most at once.", 1, 100_000, { default: 1000 }),
        },
        {
          description:
            "Tunnels that clients open with CONNECT, as for https through a proxy. Rules see the method CONNECT, the host " +
            "with its port, and the path `/`; what is in a tunnel nobody sees. Without it CONNECT is a 501.",
        },
      ),
    },
    { description: `The destination is the host that each ${namedBy} names.` },
  );
}

const IDLE_TIMEOUT = "How long a tunnel stays without a byte. 10m by default.";

function dynamicFields(namedBy: string, defaults: string) {
  return {
    port: integer(`The port of a ${namedBy} that names none: ${defaults} by default.`, 1, 65535),
    allowPrivate: addressRanges(
      "Addresses that may be reached although they are not public: loopback, private and link-local ones are " +
        "refused otherwise. A cloud's metadata address has to be named by itself.",
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
