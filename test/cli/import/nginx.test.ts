import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startEcho } from "../../harness/echo.ts";
import { freePorts } from "../../harness/free-port.ts";
import { startGateway } from "../../harness/gateway.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { itWith } from "../../harness/tool.ts";
import { startNginxFile } from "../../harness/web-server.ts";
import { type AskedAs, imported, leftIn, outcome } from "./imported.ts";

/** Contents of `http`. */
const http = (port: number, app: string, api: string) => `
default_type text/plain;
access_log off;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
upstream app { server ${app} weight=3; keepalive 16; }
include conf.d/*.conf;
server {
  listen ${port} default_server;
  server_name example.com www.example.com; # two names
  add_header X-Site "one; two" always;
  location / { proxy_pass http://app; proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr; }
  location /api/ { proxy_pass http://${api}/v2/; proxy_set_header X-From 'nginx "it"'; proxy_set_header Cookie ""; }
  location /raw { proxy_pass http://${api}; }
  location /cut { proxy_pass http://${api}/v3; }
  location = /health { return 200 "ok\\n"; }
  location /old/ { return 301 https://new.example.com$request_uri; }
  location /gone { return 410; }
  location /private/ { allow 10.0.0.0/8; deny all; proxy_pass http://${api}; }
  location /local/ { deny 10.0.0.0/8; allow 127.0.0.1; deny all; proxy_pass http://${api}; }
  location /login/ { auth_basic "Staff only"; auth_basic_user_file htpasswd; proxy_pass http://${api}; }
}
server {
  listen ${port}; server_name re.example.com;
  location / { proxy_pass http://${app}; }
  location ~ \\.php$ { proxy_pass http://${api}; proxy_set_header X-From php; }
  location ~* ^/img/.*\\.(png|jpg)$ { proxy_pass http://${api}; proxy_set_header X-From img; }
  location ^~ /plain/ { proxy_pass http://${api}; proxy_set_header X-From plain; }
  location /files/ { proxy_pass http://${api}/; proxy_set_header X-From files; }
}
`;

const redirecting = (port: number) =>
  `server { listen ${port}; server_name a.test; if ($host = a.test) { return 301 https://$host$request_uri; } return 404; }\n`;

const requests: readonly AskedAs[] = [
  ...[
    "/",
    "/x?y=1",
    "/api/x?y=1",
    "/api",
    "/api/",
    "/apiary",
    "/raw",
    "/raw/a%20b",
    "/health",
    "/health/x",
  ],
  ...[
    "/old/a?b=c",
    "/old",
    "/gone",
    "/gone/x",
    "/private/x",
    "/private",
    "/local/x",
    "/login/x",
    "/cut/a",
  ],
].map((path) => ({ host: "example.com", path }));

const more: readonly AskedAs[] = [
  { host: "www.example.com", path: "/api/x", method: "DELETE", headers: { cookie: "a=b" } },
  { host: "nobody.test", path: "/x", headers: { "x-forwarded-for": "1.2.3.4" } },
  {
    host: "example.com",
    path: "/login/x",
    headers: { authorization: `Basic ${btoa("ann:secret")}` },
  },
  {
    host: "example.com",
    path: "/login/x",
    headers: { authorization: `Basic ${btoa("ann:wrong")}` },
  },
  ...[
    "/",
    "/a.php",
    "/files/a.php",
    "/files/a",
    "/files",
    "/IMG/a.PNG",
    "/img/a.php",
    "/plain/a.php",
  ].map((path) => ({
    host: "re.example.com",
    path,
  })),
  { host: "a.test", path: "/b?c" },
];

const htpasswd = "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";

describe("gwc import of nginx", () => {
  it("explains at a closed route what to write instead", async () => {
    const site = `
server {
  listen 8080;
  location /a/ { proxy_pass http://127.0.0.1:9000; proxy_set_header Authorization "Bearer sk-0123456789abcdef"; auth_request /who; }
}`;
    const { stdout } = await imported({ "nginx.conf": site });
    const [, rest = ""] = /DECIDE: without it, the route has: (.*)/.exec(stdout) ?? [];
    const { policies, backends } = parse(rest);
    expect(backends).toEqual([{ host: "127.0.0.1:9000" }]);
    expect(policies.requestHeaderModifier).toEqual({ set: { Authorization: "${AUTHORIZATION}" } });
    expect(stdout).not.toContain("sk-0123456789abcdef");
  });

  itWith("nginx", "makes a gateway that responds as nginx does", async () => {
    const [port = 0, own = 0] = await freePorts(2);
    const [app, api] = await Promise.all([startEcho(), startEcho({ "x-app": "api" })]);
    const [appHost, apiHost] = [app, api].map(({ url }) => url.replace("http://", ""));
    const text = http(port, appHost ?? "", apiHost ?? "");
    const files = { "conf.d/a.conf": redirecting(port), htpasswd };
    const nginx = startNginxFile(text, port, files);
    const { code, stdout } = await imported(
      { "nginx.conf": `events {}\nhttp {${text}}`, ...files },
      ["nginx.conf"],
    );
    expect(code).toBe(1);
    expect(leftIn(stdout)).toEqual([
      "#   line 1: events",
      "#   line 4: access_log off",
      "#   line 6: keepalive 16",
    ]);
    const config = stdout.replaceAll(`port: ${port}`, `port: ${own}`);
    const folder = temporaryFolder({ htpasswd });
    const gateway = await startGateway({ config, files: { htpasswd }, folder });
    await nginx;
    const seen = ["x-forwarded-for", "x-real-ip", "x-from", "cookie", "x-site"];
    for (const each of [...requests, ...more]) {
      const [theirs, ours] = await Promise.all(
        [port, gateway.port].map((one) => outcome(one, each, seen)),
      );
      // gwc's refusals have the headers of no policy behind the one that refuses.
      const isRefusal = /"status":(401|403)/.test(JSON.stringify(theirs));
      const expected = isRefusal ? { ...theirs, "response x-site": undefined } : theirs;
      expect.soft({ ...each, ...ours }).toEqual({ ...each, ...expected });
    }
  });
});
