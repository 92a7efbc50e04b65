import { callWith } from "../harness/call.ts";
import { startCompiled } from "../harness/compiled-routes.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import type { GatewayProcess } from "../harness/process.ts";
import { type JwtWorld, jwtRoutes } from "./jwt-routes.ts";

/** An identity provider, a compiled gateway that trusts it, and an upstream. */
export interface World {
  readonly provider: IdentityProvider;
  readonly gateway: GatewayProcess;
  readonly upstream: Echo;
  /** The status of a request with that token to a route. */
  status(token: string, route?: string): Promise<number>;
}

/** Is given what has to be ended: Vitest's `onTestFinished`, of which tests that run beside others have their own. */
type Finish = (end: () => Promise<void>) => unknown;

/** Starts one; `prepare` runs before the gateway starts. */
export async function startWorld(
  finish: Finish,
  changes: Partial<JwtWorld> = {},
  prepare: (provider: IdentityProvider) => Promise<void> | void = () => {},
): Promise<World> {
  const provider = await IdentityProvider.start();
  finish(() => provider.stop());
  await prepare(provider);
  const upstream = await startEcho();
  finish(() => upstream.stop());
  const routes = jwtRoutes({
    issuer: provider.issuer,
    keySetUrl: provider.keySetUrl,
    cacheDuration: "5m",
    host: new URL(upstream.url).host,
    ...changes,
  });
  const gateway = await startCompiled(routes);
  finish(() => gateway.stop());
  return {
    provider,
    gateway,
    upstream,
    status: async (token, route = "strict") =>
      (await callWith(`${gateway.url}/${route}`, token)).status,
  };
}

/** Milliseconds. */
export const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
