import type { IncomingHttpHeaders } from "node:http";
import { expect, it } from "vitest";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { itWith } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startCaddy, startNginx } from "../harness/web-server.ts";
import { startRoutes } from "./routes.ts";

/** The result of a request: its client's status and body, and what the upstream received. */
interface Outcome {
  readonly status: number;
  readonly location: unknown;
  readonly user?: IncomingHttpHeaders[string];
  readonly got?: string;
}

/** Starts a server that returns its requests. */
function startShop(): Promise<string> {
  return startUpstream((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const got = Buffer.concat(pieces).toString();
      const { "x-user": user = "nobody" } = request.headers;
      response.end(JSON.stringify({ user, got }));
    });
  });
}

/** Authorization as in forward_auth and auth_request: by the token, with a header that names the user. */
const caddyAuth = `
  @anna header Authorization "Bearer anna"
  handle @anna {
    header X-User anna
    respond 200
  }
  @nameless header Authorization "Bearer nameless"
  handle @nameless {
    respond 204
  }
  @away header Authorization "Bearer away"
  handle @away {
    redir https://login.test/ 302
  }
  @forbidden header Authorization "Bearer forbidden"
  handle @forbidden {
    respond "not you" 403
  }
  handle {
    header WWW-Authenticate Bearer
    respond "who?" 401
  }`;
const nginxAuth = `
  location /check {
    if ($http_authorization = "Bearer anna") { add_header X-User anna; return 200; }
    if ($http_authorization = "Bearer nameless") { return 204; }
    if ($http_authorization = "Bearer away") { return 302 https://login.test/; }
    if ($http_authorization = "Bearer forbidden") { return 403; }
    return 401;
  }`;

/** Requests by their token. */
const tokens = ["anna", "nameless", "away", "forbidden", "nobody"] as const;

/** Returns the results of requests with each token, with and without a body. */
async function outcomes(url: string): Promise<readonly (readonly [string, Outcome])[]> {
  const found: [string, Outcome][] = [];
  for (const token of tokens) {
    for (const body of [undefined, "hello"]) {
      // A client that claims an identity.
      const headers = { authorization: `Bearer ${token}`, "x-user": "root" };
      const method = body === undefined ? "GET" : "POST";
      const response = await send(`${url}/orders`, method, headers, body);
      const { status } = response;
      const seen = status === 200 ? JSON.parse(response.body) : {};
      found.push([`${method} ${token}`, { status, location: response.headers.location, ...seen }]);
    }
  }
  return found;
}

async function ours(auth: string, shop: string) {
  const extAuthz = {
    host: auth,
    policies: patient,
    protocol: { http: { path: '"/check"', includeResponseHeaders: ["X-User"] } },
  };
  const paths = [{ pathPrefix: "/" }];
  const { url } = await startRoutes({ a: { policies: { extAuthz }, paths } }, { url: shop });
  return outcomes(url);
}

it("behaves with Caddy as authorization server like Caddy's own forward_auth", async () => {
  const shop = await startShop();
  const auth = await startCaddy(caddyAuth);
  const caddy = await startCaddy(`
    forward_auth ${auth} {
      uri /check
      copy_headers X-User
    }
    reverse_proxy ${new URL(shop).host}`);
  const own = await ours(auth, shop);
  expect(own).toEqual(await outcomes(`http://${caddy}`));
  expect(Object.fromEntries(own)["POST anna"]).toMatchObject({ user: "anna", got: "hello" });
  expect(Object.fromEntries(own)["GET nameless"]).toMatchObject({ user: "nobody" });
});

itWith(
  "nginx",
  "does with nginx as authorization server what its own auth_request does",
  async () => {
    const shop = await startShop();
    const auth = await startNginx(nginxAuth);
    const nginx = await startNginx(`
    location / {
      auth_request /check;
      auth_request_set $user $upstream_http_x_user;
      proxy_set_header X-User $user;
      proxy_pass ${shop};
    }
    location = /check {
      internal;
      proxy_pass http://${auth}/check;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
    }`);
    // auth_request does not support redirects: nginx responds with 500, and the gateway sends the redirect to the client.
    const known = (found: readonly (readonly [string, Outcome])[]) =>
      found.filter(([name]) => !name.endsWith("away"));
    const own = await ours(auth, shop);
    expect(known(own)).toEqual(known(await outcomes(`http://${nginx}`)));
    expect(Object.fromEntries(own)["GET away"]).toMatchObject({
      status: 302,
      location: "https://login.test/",
    });
  },
);
