import { keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection, TcpConnection } from "../model/connections.ts";
import { HTTP_SERVER } from "../model/traffic.ts";
import { type Infer, integer, list, object, shortText } from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import { resolveConnection, resolveTcpConnection } from "./parts/connection.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `dynamic` as configured. */
interface DynamicConfig {
  /** The port of a client that names none; undefined: what is usual. */
  readonly port: number | undefined;
  readonly allowPrivate: readonly string[];
}

/** The host that each client names, by its port and the addresses that it may have. */
interface Destinations<Connection> {
  readonly kind: "dynamic";
  /** The port of a client that names none. */
  readonly port: number;
  /** Addresses and ranges that may be reached although they are not public. */
  readonly allowPrivate: readonly string[];
  readonly connection: Connection;
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
  schema: () => dynamicSchema("request (Host)", "80, or 443 with backendTLS"),
  tcpSchema: dynamicSchema("TLS connection (SNI)", "443"),
  lower: lowerDynamic,
  kubernetes: {
    field: "dynamicForwardProxy",
    schema: () => dynamicSchema("request (Host) or TLS connection (SNI)", "80, or 443 with TLS"),
    lower: (proxy) => ({ config: lowerDynamic(proxy), sections: new Map() }),
  },
  protocol: "http",
  carries: () => [{ traffic: ["forwards", ...HTTP_SERVER] }],
  isOpenProxy: true,
  names: ["upstream", "destinations"],
  resolve: ({ config: { port, allowPrivate }, policies = {}, origin }, context) => {
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
      origin,
    };
  },
  resolveTcp: ({ config: { port = 443, allowPrivate }, policies = {}, origin }, context) => ({
    kind: "dynamic",
    port,
    allowPrivate: allowPrivate.toSorted(),
    connection: resolveTcpConnection(policies, context),
    origin,
  }),
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
  return object(
    {
      port: integer(`The port of a ${namedBy} that names none: ${defaults} by default.`, 1, 65535),
      allowPrivate: list(
        shortText("An address, or a range in CIDR notation.", {
          format: "cidr",
          examples: ["10.0.0.0/8"],
        }),
        {
          minItems: 1,
          maxItems: 64,
          description:
            "Addresses that may be reached although they are not public: loopback, private and link-local ones are " +
            "refused otherwise. A cloud's metadata address has to be named by itself.",
        },
      ),
    },
    { description: `The destination is the host that each ${namedBy} names.` },
  );
}

type DynamicValue = Infer<ReturnType<typeof dynamicSchema>>;

function lowerDynamic({ port, allowPrivate = [] }: DynamicValue): DynamicConfig {
  return { port, allowPrivate };
}
