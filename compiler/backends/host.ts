import { isIP } from "node:net";
import { keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { port } from "../manifests/field-types.ts";
import type { BackendConnection, TcpConnection } from "../model/connections.ts";
import { hostAndPort, secureUrl, serverUrl } from "../model/host-url.ts";
import { isOwnPort } from "../model/own-ports.ts";
import type { Text } from "../model/texts.ts";
import { NAMED_SERVER } from "../model/traffic.ts";
import { type Infer, object, shortText, text, unsupportedBut } from "../schema/schema.ts";
import type { Backend, BackendUse } from "./backend.ts";
import { awsScopeOf } from "./parts/aws-scope.ts";
import {
  type ConnectionContext,
  resolveConnection,
  resolveTcpConnection,
} from "./parts/connection.ts";
import { type HealthNode, resolveHealth, restText } from "./parts/health.ts";
import { haveUsers } from "./parts/known-users.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `host` as configured: `host:port`, or a URL. */
interface HostConfig {
  readonly address: Text;
}

/** An HTTP server. */
interface HostNode {
  readonly kind: "host";
  readonly url: Text;
  readonly connection: BackendConnection;
  /** Weight relative to the route's other backends; 0 for no requests. */
  readonly weight: number;
  /** Conditions of ejection; `undefined` if it is never ejected. */
  readonly health: HealthNode | undefined;
  /** Whether its address is a name, which may resolve to several servers. */
  readonly isName: boolean;
  /** Set if the server does not exist; its share of the requests is refused. */
  readonly isRefused?: true;
  readonly origin: Origin;
}

/** A server to which connections are forwarded. */
interface TcpHostNode {
  readonly kind: "host";
  /** Address as `host:port`. */
  readonly address: Text;
  readonly weight: number;
  readonly connection: TcpConnection;
  /** Set for a placeholder of an unknown server, whose share of the connections is refused. */
  readonly isRefused?: true;
  readonly origin: Origin;
}

const staticSchema = object(
  {
    host: shortText("Host of the server."),
    port,
    // Authors of backends would reach every socket of the pod, such as the one with the gateway's identity.
    unixPath: unsupportedBut("sockets of the gateway's pod", "use `host` and `port`"),
  },
  { required: ["host", "port"], description: "A server by its host and port." },
);

/** Forwards to a server, or distributes over several by weight. */
export const host: Backend<
  "host",
  Text,
  HostConfig,
  HostNode,
  TcpHostNode,
  Infer<typeof staticSchema>
> = {
  kind: "host",
  summary:
    "forwards requests or connections to a server, or distributes them over several by weight",
  schema: () =>
    text(
      "`host:port` or a URL of an HTTP server, whose path is prepended to those of requests; or a Unix socket, `unix:/run/app.sock`.",
      { readAtStart: true, examples: ["127.0.0.1:8080"] },
    ),
  tcpSchema: text("`host:port` of a server.", { readAtStart: true }),
  isNameable: true,
  lower: (address) => ({ address }),
  kubernetes: {
    field: "static",
    protocolFields: { a2a: "An agent that speaks A2A, by its host and port." },
    schema: () => staticSchema,
    lower: ({ host, port }) => ({
      config: { address: hostAndPort(host, port) },
      sections: new Map(),
    }),
  },
  protocol: "http",
  carries: () => [{ traffic: ["forwards", "shares", ...NAMED_SERVER] }],
  takesWeight: "withOthers",
  names: ["upstream", "upstreams", "isUnhealthy"],
  resolve: ({ config, policies = {}, keepsHost, weight = 1, isRefused, origin }, context) => {
    const isSecure = policies.tls !== undefined;
    const url = serverUrl(config.address, isSecure, origin, context.diagnostics);
    const connection = {
      ...resolveConnection(policies, { ...context, takesUsers: true }, awsScopeOf(url)),
      ...(keepsHost === true && { keepsHost }),
    };
    if (policies.tunnel !== undefined && typeof url === "string" && url.startsWith("unix:")) {
      const params = {
        field: '"backendTunnel"',
        actsOn: "servers with a host",
        found: "a socket of this machine",
      };
      context.diagnostics.report("misplaced-field", keyPlace(policies.tunnel.origin), params);
    }
    const health = policies.health && resolveHealth(policies.health, context.diagnostics);
    if (url === undefined || !haveUsers([connection], context)) return undefined;
    return {
      kind: "host",
      url: secureUrl(url, connection),
      connection,
      weight,
      health,
      // For a server behind a proxy, the proxy resolves the name.
      isName: !isOneServer(config) && policies.tunnel === undefined,
      ...(isRefused && { isRefused }),
      origin,
    };
  },
  userConnections: ({ connection }) =>
    connection.userConnection === undefined ? [] : [connection.userConnection],
  passesToken: ({ connection }) => connection.isPassthrough,
  resolveTcp,
  serverAddress: ({ address }) => address,
  isOneServer,
  describe: ({ url, health }) => [{ address: url, ...(health && { rest: restText(health) }) }],
  describeTcp: ({ address }) => ({ address }),
  tryCommand: (request) => curlCommand(request),
};

function resolveTcp(
  { config: { address }, policies = {}, weight = 1, isRefused, origin }: BackendUse<HostConfig>,
  context: ConnectionContext,
): TcpHostNode | undefined {
  const connection = resolveTcpConnection(policies, context);
  if (typeof address === "string" && !isAddress(address)) {
    context.diagnostics.report("bad-format", origin, {
      field: '"host"',
      expected: "host:port of a server",
    });
    return undefined;
  }
  const url = typeof address === "string" ? URL.parse(`tcp://${address}`) : null;
  if (url !== null && isOwnPort(url)) {
    context.diagnostics.report("own-port", origin, { host: url.host });
    return undefined;
  }
  return { kind: "host", address, weight, connection, ...(isRefused && { isRefused }), origin };
}

function isAddress(text: string): boolean {
  const [, port] = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+):([0-9]{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) <= 65_535;
}

function isOneServer({ address }: HostConfig): boolean {
  return typeof address === "string" && isOneAddress(address);
}

/** Whether an address is a Unix socket or an IP address. */
function isOneAddress(address: string): boolean {
  if (address.startsWith("unix:")) return true;
  const url = URL.parse(address.includes("://") ? address : `http://${address}`);
  return isIP(url?.hostname.replace(/^\[|\]$/g, "") ?? "") !== 0;
}
