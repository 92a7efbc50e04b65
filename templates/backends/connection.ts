import type { BackendConnection, BackendTlsNode, Text } from "../../compiler/ir.ts";
import { type Code, code, imported, literal, type Printable } from "../code.ts";

/** The connections to an upstream. */
export function openUpstream(url: Text, connection: BackendConnection): Code {
  const open = imported("gwc/runtime/http/client", "openUpstream");
  return code`${open}(${literal(upstreamSettings(url, connection))})`;
}

/** Where an upstream is and how it is reached, as the runtime takes it. */
export function upstreamSettings(
  url: Text,
  connection: BackendConnection,
): Readonly<Record<string, Printable | undefined>> {
  return {
    url: upstreamUrl(url, connection.tls !== undefined),
    ...connectionSettings(connection),
  };
}

/** How an upstream is reached, wherever it is. */
export function connectionSettings({
  tls,
  isPassthrough: _,
  keepAlive,
  ...rest
}: BackendConnection): Readonly<Record<string, Printable | undefined>> {
  return {
    ...rest,
    keepAlive: keepAlive && { ...keepAlive },
    tls: tls && tlsSettings(tls),
  };
}

/** Statements around the policies that keep the client's Authorization for a backend that is meant to see it. */
export function passthrough(connections: readonly BackendConnection[]): {
  readonly first: readonly Code[];
  readonly last: readonly Code[];
} {
  if (!connections.some(({ isPassthrough }) => isPassthrough)) return { first: [], last: [] };
  return {
    first: [code`const authorization = exchange.header("authorization");`],
    last: [
      code`if (authorization !== undefined) exchange.setRequestHeader("authorization", authorization);`,
    ],
  };
}

/** The address of an upstream; what starts with a variable is looked at when the gateway starts. */
function upstreamUrl(url: Text, isSecure: boolean): Text | Code {
  if (typeof url === "string" || typeof url.parts[0] === "string") return url;
  const read = imported("gwc/runtime/gateway/late", isSecure ? "httpsUrl" : "httpUrl");
  return code`${read}(${literal(url)})`;
}

/** TLS to an upstream, as the runtime takes it. */
export function tlsSettings({
  authorities,
  certFile,
  keyFile,
  serverName,
  subjectAltNames,
  verification,
}: BackendTlsNode): Printable {
  return {
    authorities: path(authorities),
    certFile: path(certFile),
    keyFile: path(keyFile),
    serverName,
    subjectAltNames: subjectAltNames && [...subjectAltNames],
    verification,
  };
}

function path(text: Text | undefined): Code | undefined {
  const file = imported("gwc/runtime/gateway/late", "file");
  return text === undefined ? undefined : code`${file}(${literal(text)})`;
}
