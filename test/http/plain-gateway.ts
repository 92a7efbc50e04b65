import { type Gateway, startGateway } from "../harness/gateway.ts";

/** A compiled gateway that forwards everything to an upstream. */
export async function startPlain(
  upstream: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ gateway: Gateway; port: number; url: string }> {
  const route = { name: "plain", backends: [{ host: "${UPSTREAM}" }] };
  const listeners = [{ name: "http", routes: [route] }];
  const gateway = await startGateway({ listeners, env: { UPSTREAM: upstream, ...env } });
  return { gateway, port: gateway.port, url: gateway.url };
}
