import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { TunnelConfig } from "../../model/server-policies.ts";
import { type Infer, object, type Schema, text, unsupported } from "../../schema/schema.ts";
import { connectionSchemas, keySchema } from "./connection-schema.ts";
import { readConnection } from "./read-connection.ts";

/** `backendTunnel` of a file. */
export function tunnelSchema() {
  const { backendTLS, tcp } = connectionSchemas();
  const proxyAuth = object(
    {
      key: keySchema(
        "What the proxy is shown in `Proxy-Authorization: Bearer`, as `${NAME}`; or `{file: PATH}` with that or a whole value (`Basic ...`).",
      ),
    },
    { required: ["key"], description: "What the gateway shows to the proxy." },
  );
  return object(
    {
      proxy: object(
        {
          host: text("`host:port` or a URL of the proxy.", {
            readAtStart: true,
            examples: ["proxy.internal:3128"],
          }),
          service: unsupported("mesh services"),
          backend: unsupported("proxies by the name of a backend"),
        },
        { required: ["host"], description: "The proxy." },
      ),
      policies: object(
        { backendTLS: withoutAlpn(backendTLS), tcp, backendAuth: proxyAuth },
        { minProperties: 1, description: "How the proxy itself is reached." },
      ),
    },
    {
      required: ["proxy"],
      description:
        "Reaches the backend through a proxy that opens tunnels (CONNECT), which sees its host and port and nothing else of requests over TLS. A proxy that refuses is a 502, one that can't be reached a 503; the log says which and why.",
      examples: [{ proxy: { host: "proxy.internal:3128" } }],
    },
  );
}

/** Proxies are asked in HTTP/1.1. */
function withoutAlpn<Value>(tls: Schema<Value>): Schema<Value> {
  const fields = Object.entries(tls.properties ?? {}).filter(([name]) => name !== "alpn");
  return { ...tls, properties: Object.fromEntries(fields) };
}

/** The canonical form of a validated `backendTunnel`. */
export function readTunnel(
  { proxy, policies = {} }: Infer<ReturnType<typeof tunnelSchema>>,
  origin: Origin,
): TunnelConfig {
  const { tls, tcp, auth } = readConnection(policies, childOf(origin, "policies"));
  return {
    proxy: proxy.host,
    policies: { ...(tls && { tls }), ...(tcp && { tcp }), ...(auth && { auth }) },
    proxyOrigin: childOf(origin, "proxy", "host"),
    origin,
  };
}
