import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { startEcho } from "../../harness/echo.ts";
import { freePorts } from "../../harness/free-port.ts";
import { startGateway } from "../../harness/gateway.ts";
import { describeUnless, NOT_LONG } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { startTraefik } from "../../harness/web-server.ts";
import { type AskedAs, imported, mistakes, outcome } from "./imported.ts";

const home = process.env.GWC_TRAEFIK_HOME ?? path.join(homedir(), ".cache/gwc-traefik");
const program = path.join(home, "traefik");
const missing =
  NOT_LONG ?? (existsSync(program) ? undefined : "needs Traefik, which .ci/traefik builds");

const dynamic = (app: string, api: string) => `http:
  routers:
    site:
      rule: Host(\`example.com\`) || Host(\`www.example.com\`)
      priority: 1
      service: app
      middlewares: [heads]
    api:
      rule: Host(\`example.com\`) && PathPrefix(\`/api\`)
      service: api
      middlewares: [cut-api]
    slash:
      rule: Host(\`example.com\`) && PathPrefix(\`/slash/\`)
      service: api
      middlewares: [cut-slash]
    exact:
      rule: Host(\`example.com\`) && Path(\`/exact\`)
      service: api
    posts:
      rule: Host(\`example.com\`) && PathPrefix(\`/posts\`) && Method(\`POST\`)
      service: api
    loud:
      rule: Host(\`example.com\`) && PathPrefix(\`/posts\`) && Header(\`X-Loud\`, \`yes\`)
      service: api
      middlewares: [loud]
    pattern:
      rule: Host(\`example.com\`) && PathRegexp(\`^/items/[0-9]+$\`)
      service: api
    asked:
      rule: Host(\`example.com\`) && Path(\`/search\`) && Query(\`kind\`, \`api\`)
      service: api
    early:
      rule: PathPrefix(\`/early\`)
      priority: 1000
      service: api
      middlewares: [added]
    office:
      rule: Host(\`office.example.com\`)
      service: app
      middlewares: [office]
    out:
      rule: Host(\`out.example.com\`)
      service: app
      middlewares: [out]
    users:
      rule: Host(\`users.example.com\`)
      service: app
      middlewares: [users]
    fixed:
      rule: Host(\`fixed.example.com\`)
      service: api
      middlewares: [fixed]
    secure:
      rule: Host(\`secure.example.com\`)
      service: app
      middlewares: [secure]
    cors:
      rule: Host(\`cors.example.com\`)
      service: app
      middlewares: [cors]
    own:
      rule: Host(\`own.example.com\`)
      service: own
  middlewares:
    heads: {headers: {customRequestHeaders: {X-From: site, Cookie: ""}, customResponseHeaders: {X-Site: one, X-App: ""}}}
    cut-api: {stripPrefix: {prefixes: [/api]}}
    cut-slash: {stripPrefix: {prefixes: [/slash/]}}
    loud: {headers: {customRequestHeaders: {X-From: loud}}}
    added: {addPrefix: {prefix: /v1}}
    office: {ipAllowList: {sourceRange: [127.0.0.1/32]}}
    out: {ipAllowList: {sourceRange: [10.0.0.0/8]}}
    users: {basicAuth: {users: ["ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="], realm: Team}}
    fixed: {replacePath: {path: /always}}
    secure: {redirectScheme: {scheme: https, permanent: true}}
    cors: {headers: {accessControlAllowOriginList: ["https://a.example"], accessControlAllowMethods: [GET, PUT], accessControlAllowHeaders: [x-a], accessControlMaxAge: 60}}
  services:
    app: {loadBalancer: {servers: [{url: "${app}"}]}}
    api: {loadBalancer: {servers: [{url: "${api}"}]}}
    own: {loadBalancer: {servers: [{url: "${api}"}], passHostHeader: false}}
`;

const ann = `Basic ${Buffer.from("ann:secret").toString("base64")}`;
const origin = { origin: "https://a.example" };
const preflight = { "access-control-request-method": "PUT" };

const requests: readonly AskedAs[] = [
  ...[
    ...["/", "/x?y=1", "/api", "/api/", "/api/x?y", "/apis", "/slash", "/slash/", "/slash/a/b"],
    ...[
      "/exact",
      "/exact/",
      "/exactly",
      "/exact?a=b",
      "/posts",
      "/posts/1",
      "/items/7",
      "/items/x",
    ],
    ...["/items/7/8", "/search?kind=api", "/search?kind=apis", "/search", "/search?a=1&kind=api"],
    ...["/early", "/early/a?b", "/earlier", "//x", "/a/../api/x", "/a%20b", "/a%2Fb", "/%61pi/x"],
  ].map((each): AskedAs => ({ host: "example.com", path: each, headers: { cookie: "a=b" } })),
  { host: "www.example.com", path: "/api/x" },
  { host: "www.example.com", path: "/early" },
  { host: "WWW.Example.COM", path: "/" },
  { host: "other.example.com", path: "/" },
  { host: "other.example.com", path: "/early" },
  { host: "example.com", path: "/posts/1", method: "POST" },
  { host: "example.com", path: "/posts/1", headers: { "x-loud": "yes" } },
  { host: "example.com", path: "/posts/1", headers: { "x-loud": "yes, very" } },
  { host: "example.com", path: "/posts/1", method: "POST", headers: { "x-loud": "yes" } },
  { host: "example.com", path: "/", headers: { "x-forwarded-for": "9.9.9.9" } },
  { host: "example.com", path: "/", headers: { "x-forwarded-proto": "https" } },
  { host: "office.example.com", path: "/" },
  { host: "out.example.com", path: "/" },
  { host: "users.example.com", path: "/" },
  { host: "users.example.com", path: "/", headers: { authorization: ann } },
  { host: "users.example.com", path: "/", headers: { authorization: `${ann}x` } },
  { host: "fixed.example.com", path: "/a?b=c" },
  { host: "secure.example.com", path: "/a?b=c" },
  { host: "cors.example.com", path: "/" },
  { host: "cors.example.com", path: "/", headers: origin },
  { host: "cors.example.com", path: "/", headers: { origin: "https://b.example" } },
  { host: "cors.example.com", path: "/", method: "OPTIONS", headers: { ...origin, ...preflight } },
  { host: "own.example.com", path: "/" },
];

const seen = [
  ...["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-from", "cookie"],
  ...["authorization", "www-authenticate", "x-site", "x-app"],
  ...["access-control-allow-origin", "access-control-allow-methods", "access-control-max-age"],
];

function plain(value: unknown, port: number): string {
  return String(JSON.stringify(value)).replaceAll(`:${port}`, ":PORT");
}

describeUnless(missing)("gwc import compared with Traefik itself", () => {
  it("makes a gateway that responds as Traefik does", async () => {
    const [port = 0, own = 0] = await freePorts(2);
    const [app, api] = await Promise.all([startEcho({ "x-app": "app" }), startEcho()]);
    const text = dynamic(app.url, api.url);
    const fixed = `entryPoints: {web: {address: ":${port}"}}\n`;
    const folder = temporaryFolder({ "dynamic.yaml": text });
    const traefik = startTraefik(program, folder, port);
    const { stdout } = await imported({ "dynamic.yaml": text, "traefik.yaml": fixed });
    expect(mistakes(stdout)).toEqual([]);
    const gateway = await startGateway({
      config: stdout.replaceAll(`port: ${port}`, `port: ${own}`),
      env: { USERS_USERS: "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=" },
    });
    await traefik;
    const differences: string[] = [];
    for (const each of requests) {
      const [theirs = {}, ours = {}] = await Promise.all(
        [port, gateway.port].map(async (one) =>
          Object.fromEntries(Object.entries(await outcome(one, each, seen))),
        ),
      );
      const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])].filter(
        (key) => plain(theirs[key], port) !== plain(ours[key], gateway.port),
      );
      const { method = "GET", host, path: asked } = each;
      const what = keys.includes("status") ? `${theirs.status} -> ${ours.status}` : keys.join(", ");
      if (keys.length > 0) differences.push(`${method} ${host}${asked}: ${what}`);
    }
    expect(differences).toEqual([
      // A prefix of a string matches whole segments here, as a DECIDE line says.
      "GET example.com/apis: url, x-from, cookie, response x-site",
      // A slash that may be read in two ways is refused.
      "GET example.com/a%2Fb: 200 -> 400",
      "GET WWW.Example.COM/: host, x-forwarded-host",
      // gwc asks methods before headers: the route is closed until somebody has decided.
      "POST example.com/posts/1: 200 -> 503",
      "POST example.com/posts/1: 200 -> 503",
      "GET users.example.com/: response www-authenticate",
      // A password goes no further, as a DECIDE line says.
      "GET users.example.com/: authorization",
      "GET users.example.com/: response www-authenticate",
      // "GET, PUT" for "GET,PUT".
      "OPTIONS cors.example.com/: response access-control-allow-methods",
    ]);
  });
});
