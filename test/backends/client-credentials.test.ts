import { createServer } from "node:http";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { audience, IdentityProvider } from "../harness/identity-provider.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { SteppedClock } from "../harness/stepped-clock.ts";
import { findings } from "../policies/refused.ts";
import { startRoutes } from "../policies/routes.ts";

/** After this time tokens are renewed, although they are still valid. */
const NEARLY_AN_HOUR = 3_500_000;

const clock = new SteppedClock();
let gateway: Gateway;
/** Bodies of the requests to the scripted server, in order. */
const asked: string[] = [];
/** Status of its responses. */
let status = 200;

/** Starts a server whose tokens are valid for an hour. */
async function startHourlyServer(): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    asked.push(text);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ access_token: `token-${asked.length}`, expires_in: 3600 }));
  });
  return `127.0.0.1:${await listen(server)}`;
}

beforeAll(async () => {
  const provider = await IdentityProvider.start();
  const hourly = await startHourlyServer();
  const upstream = await startEcho();
  const to = (clientCredentials: object) => ({
    policies: {},
    backends: [
      { host: new URL(upstream.url).host, policies: { backendAuth: { clientCredentials } } },
    ],
  });
  const real = {
    ...{ host: new URL(provider.issuer).host, path: "/token" },
    clientAuth: { clientId: "app", clientSecret: "${SECRET}" },
    ...{ resources: [audience], scopes: ["use", "add"] },
  };
  const clientAuth = { clientId: "gate", clientSecret: "${SECRET}", method: "clientSecretPost" };
  gateway = await startRoutes(
    {
      real: to(real),
      placed: to({ ...real, location: { header: { name: "x-token" } } }),
      refused: to({ ...real, clientAuth: { clientId: "nobody", clientSecret: "${SECRET}" } }),
      hourly: to({ host: hourly, path: "/token", clientAuth, audiences: ["orders"] }),
    },
    upstream,
    {},
    { SECRET: "secret", ...clock.env },
  );
});

async function shown(route: string, headers: Record<string, string> = {}) {
  const response = await send(`${gateway.url}/${route}`, "GET", headers);
  return { status: response.status, headers: JSON.parse(response.body || "{}").headers };
}

describe("clientCredentials", () => {
  it("sends a token of a real server for the gateway, instead of the client's own", async () => {
    const { headers } = await shown("real", { authorization: "Bearer the-client's" });
    const [, token = ""] = headers.authorization.split(" ");
    expect(decodeJwt(token)).toMatchObject({ aud: audience, client_id: "app", scope: "use add" });
  });

  it("puts the token in its place", async () => {
    const { headers } = await shown("placed", { authorization: "Bearer the-client's" });
    expect(decodeJwt(headers["x-token"])).toMatchObject({ client_id: "app" });
  });

  it("requests one token for concurrent requests, and renews it before it expires", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => shown("hourly")));
    expect(new Set(all.map(({ headers }) => headers.authorization))).toEqual(
      new Set(["Bearer token-1"]),
    );
    expect(Object.fromEntries(new URLSearchParams(asked[0]))).toEqual({
      ...{ grant_type: "client_credentials", audience: "orders" },
      ...{ client_id: "gate", client_secret: "secret" },
    });
    clock.pass(NEARLY_AN_HOUR);
    await eventually(async () => {
      const { headers } = await shown("hourly");
      return headers.authorization === "Bearer token-2" || null;
    }, "the renewed token");
  });

  it("is a 502 when there is no token, with the reason in the log only", async () => {
    const response = await send(`${gateway.url}/refused`, "GET");
    expect(response.status).toBe(502);
    expect(response.body).not.toContain("invalid_client");
    await gateway.seen(/no token for the backend: .*invalid_client/);
    expect(gateway.output).not.toContain("secret");
  });

  it("uses the old token while the server fails", async () => {
    const { headers } = await shown("hourly");
    status = 503;
    const before = asked.length;
    clock.pass(NEARLY_AN_HOUR);
    await eventually(async () => {
      expect((await shown("hourly")).headers.authorization).toBe(headers.authorization);
      return asked.length > before || null;
    }, "a renewal that fails");
    status = 200;
  });

  it("needs a client, and is the only main credential", () => {
    const server = { host: "https://a.test", path: "/token" };
    const withAuth = (backendAuth: object) =>
      findings({ policies: {}, backends: [{ host: "127.0.0.1:1", policies: { backendAuth } }] });
    expect(withAuth({ clientCredentials: server })).toEqual(["missing-field"]);
    const clientAuth = { clientId: "a", clientSecret: "${A}" };
    const clientCredentials = { ...server, clientAuth };
    expect(withAuth({ clientCredentials })).toEqual([]);
    expect(withAuth({ clientCredentials, passthrough: {} })).toHaveLength(1);
  });
});
