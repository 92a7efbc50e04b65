import { isIP } from "node:net";
import { keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { port } from "../manifests/field-types.ts";
import type { BackendConnection, TcpConnection } from "../model/connections.ts";
import { hostAndPort, serverUrl } from "../model/host-url.ts";
import { isOwnPort } from "../model/own-ports.ts";
import type { Text } from "../model/texts.ts";
import { NAMED_SERVER } from "../model/traffic.ts";
import { type Infer, object, shortText, text } from "../schema/schema.ts";
import type { Backend, BackendUse } from "./backend.ts";
import { awsScopeOf } from "./parts/aws-scope.ts";
import {
  type ConnectionContext,
  resolveConnection,
  resolveTcpConnection,
  secureUrl,
} from "./parts/connection.ts";
import { type HealthNode, resolveHealth, restText } from "./parts/health.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `host` as configured: `host:port`, or a URL. */
interface HostConfig {
  readonly address: Text;
}

/** A plain HTTP upstream. */
interface HostNode {
  readonly kind: "host";
  readonly url: Text;
  readonly connection: BackendConnection;
  /** Its share of the route's requests, in relation to the others'; 0: none. */
  readonly weight: number;
  /** When it is left alone; undefined: never. */
  readonly health: HealthNode | undefined;
  /** Its address is a name, which may stand for several servers. */
  readonly isName: boolean;
  /** Its share of the requests is refused: there is no such server. */
  readonly isRefused?: true;
  readonly origin: Origin;
}

/** A server that connections are passed on to. */
interface TcpHostNode {
  readonly kind: "host";
  /** `host:port` */
  readonly address: Text;
  readonly weight: number;
  readonly connection: TcpConnection;
  readonly origin: Origin;
}

const staticSchema = object(
  { host: shortText("The host."), port },
  { required: ["host", "port"], description: "A server by its host and port." },
);

/** A server, or several with a share of the requests each. */
export const host: Backend<
  "host",
  Text,
  HostConfig,
  HostNode,
  TcpHostNode,
  Infer<typeof staticSchema>
> = {
  kind: "host",
  summary: "passes requests on to a server, or shares requests or connections by weight",
  schema: () =>
    text(
      "`host:port` or a URL of a plain HTTP upstream, whose path is put before those of requests; or a Unix socket, `unix:/run/app.sock`.",
      { readAtStart: true, examples: ["127.0.0.1:8080"] },
    ),
  tcpSchema: text("`host:port` of a server.", { readAtStart: true }),
  isNameable: true,
  lower: (address) => ({ address }),
  kubernetes: {
    field: "static",
    schema: () => staticSchema,
    lower: ({ host, port }) => ({
      config: { address: hostAndPort(host, port) },
      sections: new Map(),
    }),
  },
  protocol: "http",
  carries: () => [{ traffic: ["forwards", "shares", ...NAMED_SERVER] }],
  takesWeight: true,
  names: ["upstream", "upstreams", "isUnhealthy"],
  resolve: ({ config, policies = {}, keepsHost, weight = 1, isRefused, origin }, context) => {
    const isSecure = policies.tls !== undefined;
    const url = serverUrl(config.address, isSecure, origin, context.diagnostics);
    const connection = {
      ...resolveConnection(policies, context, awsScopeOf(url)),
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
    if (url === undefined) return undefined;
    return {
      kind: "host",
      url: secureUrl(url, connection),
      connection,
      weight,
      health,
      // Of a server behind a proxy the proxy knows the addresses.
      isName: !isOneServer(config) && policies.tunnel === undefined,
      ...(isRefused && { isRefused }),
      origin,
    };
  },
  passesToken: ({ connection }) => connection.isPassthrough,
  resolveTcp,
  serverAddress: ({ address }) => address,
  isOneServer,
  describe: ({ url, health }) => [{ address: url, ...(health && { rest: restText(health) }) }],
  describeTcp: ({ address }) => ({ address }),
  tryCommand: (request) => curlCommand(request),
};

function resolveTcp(
  { config: { address }, policies = {}, weight = 1, origin }: BackendUse<HostConfig>,
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
  return { kind: "host", address, weight, connection, origin };
}

function isAddress(text: string): boolean {
  const [, port] = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+):([0-9]{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) <= 65_535;
}

function isOneServer({ address }: HostConfig): boolean {
  return typeof address === "string" && isOneAddress(address);
}

/** A Unix socket, or an address of IP. */
function isOneAddress(address: string): boolean {
  if (address.startsWith("unix:")) return true;
  const url = URL.parse(address.includes("://") ? address : `http://${address}`);
  return isIP(url?.hostname.replace(/^\[|\]$/g, "") ?? "") !== 0;
}
