import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { serverAddressOf } from "../../model/server-address.ts";
import type { TunnelConfig } from "../../model/server-policies.ts";
import { SERVICE_INSTEAD } from "../../schema/refused-features.ts";
import { type Infer, object, type Schema, text, unsupportedBut } from "../../schema/schema.ts";
import { connectionSchemas } from "./connection-schema.ts";
import { readConnection } from "./read-connection.ts";
import { credentialSchema } from "./sent-credentials.ts";
import { serverNameSchema } from "./server-name.ts";

/** Returns the schema of `backendTunnel` in a file. */
export function tunnelSchema() {
  const { backendTLS, tcp } = connectionSchemas();
  const proxyAuth = object(
    {
      key: credentialSchema(
        "Key to send as `Proxy-Authorization: Bearer`: `${NAME}`, or `{file: PATH}` with the key or a complete value (`Basic ...`).",
      ),
    },
    { required: ["key"], description: "Credential that the gateway sends to the proxy." },
  );
  return object(
    {
      proxy: object(
        {
          host: text("Address of the proxy: `host:port` or a URL.", {
            readAtStart: true,
            examples: ["proxy.internal:3128"],
          }),
          service: unsupportedBut("services of a mesh", SERVICE_INSTEAD),
          backend: serverNameSchema,
        },
        { exactlyOneOf: ["host", "service", "backend"], description: "The proxy." },
      ),
      policies: object(
        { backendTLS: withoutAlpn(backendTLS), tcp, backendAuth: proxyAuth },
        { minProperties: 1, description: "Connection to the proxy itself." },
      ),
    },
    {
      required: ["proxy"],
      description:
        "Connects to the backend through a proxy with CONNECT. For a backend over TLS, the proxy only sees host and port. If the proxy refuses, clients get 502; if it cannot be reached, 503. The log has the reason.",
      examples: [{ proxy: { host: "proxy.internal:3128" } }],
    },
  );
}

/** Returns a TLS schema without ALPN, because proxies are called with HTTP/1.1. */
function withoutAlpn<Value>(tls: Schema<Value>): Schema<Value> {
  const fields = Object.entries(tls.properties ?? {}).filter(([name]) => name !== "alpn");
  return { ...tls, properties: Object.fromEntries(fields) };
}

/** Converts a validated `backendTunnel` to canonical form. */
export function readTunnel(
  { proxy, policies = {} }: Infer<ReturnType<typeof tunnelSchema>>,
  origin: Origin,
): TunnelConfig {
  const { tls, tcp, auth } = readConnection(policies, childOf(origin, "policies"));
  return {
    proxy: serverAddressOf(proxy),
    policies: { ...(tls && { tls }), ...(tcp && { tcp }), ...(auth && { auth }) },
    proxyOrigin: childOf(origin, "proxy", proxy.backend === undefined ? "host" : "backend"),
    origin,
  };
}
