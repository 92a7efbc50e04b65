import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { startEnvoy } from "../harness/envoy.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { listen } from "../harness/listen.ts";
import { startRoutes } from "../policies/routes.ts";
import { unexplained, unseen } from "./envoy/differences.ts";
import { extAuthzRequests } from "./envoy/ext-authz-requests.ts";
import { extProcRequests } from "./envoy/ext-proc-requests.ts";
import { knownDifferences } from "./envoy/known-differences.ts";
import { headersOf, type Observation, observe, type UpstreamRequest } from "./envoy/observation.ts";
import type { OracleRequest } from "./envoy/oracle-request.ts";
import { rateLimitRequests } from "./envoy/rate-limit-requests.ts";
import { extAuthzSetups, extProcSetups, rateLimitSetups } from "./envoy/setups.ts";

const setups = Object.entries({ ...extAuthzSetups, ...extProcSetups, ...rateLimitSetups });

/** Servers around a proxy, and the address of each setup. */
interface Stage {
  readonly services: EnvoyServices;
  readonly seen: readonly UpstreamRequest[];
  readonly url: (setup: string) => string;
}

let envoy: Stage;
let gateway: Stage;

beforeAll(async () => {
  [envoy, gateway] = await Promise.all([startEnvoyStage(), startGatewayStage()]);
});

async function startEnvoyStage(): Promise<Stage> {
  const [{ host, seen }, services] = await Promise.all([startUpstream(), startEnvoyServices()]);
  const urls = await startEnvoy({
    upstream: host,
    services: `127.0.0.1:${services.port}`,
    listeners: setups.map(([name, setup]) => ({ name, ...setup.envoy })),
  });
  return { services, seen, url: (setup) => urls.get(setup) ?? "" };
}

async function startGatewayStage(): Promise<Stage> {
  const [{ host, seen }, services] = await Promise.all([startUpstream(), startEnvoyServices()]);
  const routes = setups.map(([name, setup]) => {
    const policies = setup.gateway(`127.0.0.1:${services.port}`);
    return [name, { policies }] as const;
  });
  const { url } = await startRoutes(Object.fromEntries(routes), { url: `http://${host}` });
  return { services, seen, url: () => url };
}

/** A server that keeps what it gets. */
async function startUpstream() {
  const seen: UpstreamRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", rawHeaders } = request;
    const body = await text(request);
    const trailers = headersOf(request.rawTrailers);
    seen.push({ method, url, headers: headersOf(rawHeaders), body, trailers });
    response.writeHead(200, { "content-type": "text/plain", "x-from": "upstream" });
    response.end(`got ${body}`);
  });
  return { host: `127.0.0.1:${await listen(server)}`, seen };
}

/** Results of both proxies. */
function observed(
  { url, services, seen }: Stage,
  requests: readonly OracleRequest[],
): Promise<readonly Observation[]> {
  return observe(url, requests, services, seen);
}

describe("behind Envoy and behind the gateway the same servers see and do the same", () => {
  it.each([
    ["extAuthz", extAuthzRequests],
    ["extProc", extProcRequests],
    ["remoteRateLimit", rateLimitRequests],
  ] as const)("%s, but for the written differences", async (policy, requests) => {
    const theirs = await observed(envoy, requests);
    const ours = await observed(gateway, requests);
    expect(requests.length).toBeGreaterThanOrEqual(60);
    const known = knownDifferences[policy];
    const compared = requests.map(({ name }, i) => ({ name, envoy: theirs[i], gateway: ours[i] }));
    expect(unexplained(compared, known)).toEqual([]);
    // An entry of the list that does not occur is wrong.
    expect(unseen(compared, known)).toEqual([]);
  });
});
