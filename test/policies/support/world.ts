import { callWith } from "./call.ts";
import { startEcho } from "./echo.ts";
import { IdentityProvider } from "./identity-provider.ts";
import { type GatewayProcess, startFixture } from "./process.ts";

/** An identity provider, a gateway that trusts it, and an upstream: for one test, which may run beside others. */
export interface World {
  readonly provider: IdentityProvider;
  readonly gateway: GatewayProcess;
  /** The status of a request with that token to a route of the fixture. */
  status(token: string, route?: string): Promise<number>;
}

/** Vitest's `onTestFinished`; tests that run beside others have their own. */
type Finish = (end: () => Promise<void>) => void;

/** Starts one that ends with the test; `prepare` runs before the gateway starts. */
export async function startWorld(
  onTestFinished: Finish,
  environment: Record<string, string> = {},
  prepare: (provider: IdentityProvider) => Promise<void> | void = () => {},
): Promise<World> {
  const provider = await IdentityProvider.start();
  onTestFinished(() => provider.stop());
  await prepare(provider);
  const upstream = await startEcho();
  onTestFinished(() => upstream.stop());
  const gateway = await startFixture("jwt", {
    ISSUER: provider.issuer,
    KEY_SET: provider.keySetUrl,
    UPSTREAM: upstream.url,
    ...environment,
  });
  onTestFinished(() => gateway.stop());
  return {
    provider,
    gateway,
    status: async (token, route = "strict") =>
      (await callWith(`${gateway.url}/${route}`, token)).status,
  };
}

/** Milliseconds. */
export const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
