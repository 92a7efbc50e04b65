import { callWith } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { IdentityProvider, signingKey } from "../harness/identity-provider.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { type JwtWorld, jwtRoutes } from "./jwt-routes.ts";

/** An identity provider, a compiled gateway that trusts it, and an upstream. */
export interface World {
  readonly provider: IdentityProvider;
  readonly gateway: Gateway;
  readonly upstream: Echo;
  /** Returns the status of a request with that token to a route. */
  status(token: string, route?: string): Promise<number>;
}

/** The first key of providers: creating it takes longer than most tests. */
const firstKey = signingKey();

/** Starts a world; `prepare` runs before the gateway starts. */
export async function startWorld(
  changes: Partial<JwtWorld> = {},
  prepare: (provider: IdentityProvider) => Promise<void> | void = () => {},
): Promise<World> {
  const provider = await IdentityProvider.start({ key: await firstKey });
  await prepare(provider);
  const upstream = await startEcho();
  const routes = jwtRoutes({
    issuer: provider.issuer,
    keySetUrl: provider.keySetUrl,
    cacheDuration: "5m",
    host: new URL(upstream.url).host,
    ...changes,
  });
  const gateway = await startRoutesText(routes);
  return {
    provider,
    gateway,
    upstream,
    status: async (token, route = "strict") =>
      (await callWith(`${gateway.url}/${route}`, token)).status,
  };
}
