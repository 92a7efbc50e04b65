import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startEcho } from "../../harness/echo.ts";
import { freePorts } from "../../harness/free-port.ts";
import { startGateway } from "../../harness/gateway.ts";
import { pythonFor } from "../../harness/python.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { startCaddyFile } from "../../harness/web-server.ts";
import { type AskedAs, imported, leftIn, mistakes, outcome } from "./imported.ts";

const sites = (port: number, app: string, api: string) => `
(headers) {
	header X-Site "{args[0]} \\"two\\""
	header -X-App
}
http://example.com:${port}, http://www.example.com:${port} {
	log
	import headers one
	encode gzip
	@posts {
		path /posts/*
		method POST
	}
	reverse_proxy ${app} { # all else
		header_up X-Real-IP {remote_host}
		header_up -Cookie
		lb_policy first
	}
	reverse_proxy /api/* http://${api}
	handle_path /cut/* {
		reverse_proxy ${api} {
			header_up X-From cut
		}
	}
	handle /both/* {
		respond /both/no "no" 404
		reverse_proxy ${api}
	}
	respond /health "ok"
	respond /empty 204
	redir /old https://new.example.com{uri} permanent
	redir /fixed /somewhere 307
	reverse_proxy @posts ${api} {
		header_up X-From posts
	}
}
http://login.example.com:${port} {
	basic_auth {
		ann $2y$04$iBfp.bSGf3VUnUzzcVtNdOQ5Mv2FOiF6fTrMsYhMsrDiBxw4fG4Ea
	}
	reverse_proxy ${api}
}
http://none.example.com:${port} {
	handle /a {
		respond "a"
	}
}
`;

const requests: readonly AskedAs[] = [
  ...[
    "/",
    "/x?y=1",
    "/api/x",
    "/api",
    "/api/",
    "/cut/a?b",
    "/cut",
    "/cut/",
    "/both/no",
    "/both/yes",
    "/both",
  ],
  ...["/health", "/health/", "/empty", "/old?a=b", "/fixed?a", "/posts/1", "/posts"],
]
  .map((path): AskedAs => ({ host: "example.com", path, headers: { cookie: "a=b" } }))
  .concat(
    { host: "www.example.com", path: "/posts/1", method: "POST" },
    { host: "www.example.com", path: "/", headers: { "x-forwarded-for": "9.9.9.9" } },
    { host: "login.example.com", path: "/" },
    { host: "none.example.com", path: "/a" },
    { host: "none.example.com", path: "/b" },
  );

describe("gwc import of Caddy", () => {
  it("makes a gateway that responds as Caddy does", async () => {
    const [port = 0, own = 0] = await freePorts(2);
    const [app, api] = await Promise.all([startEcho({ "x-app": "app" }), startEcho()]);
    const [appHost = "", apiHost = ""] = [app, api].map(({ url }) => url.replace("http://", ""));
    const text = sites(port, appHost, apiHost);
    const caddy = startCaddyFile(text, port);
    const { code, stdout } = await imported({ Caddyfile: text });
    expect(code).toBe(1);
    expect(leftIn(stdout)).toEqual([
      "#   line 7: log",
      "#   line 9: encode gzip",
      "#   line 17: lb_policy first",
    ]);
    expect(stdout).not.toContain("$2y$");
    const config = stdout.replaceAll(`port: ${port}`, `port: ${own}`);
    const gateway = await startGateway({
      config,
      env: { CADDY_USERS: "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=" },
    });
    await caddy;
    const seen = [
      "x-forwarded-for",
      "x-forwarded-proto",
      "x-real-ip",
      "x-from",
      "cookie",
      "x-site",
      "x-app",
    ];
    for (const each of requests) {
      const [theirs, ours] = await Promise.all(
        [port, gateway.port].map((one) => outcome(one, each, seen)),
      );
      const isRefusal = /"status":401/.test(JSON.stringify(theirs));
      const expected = isRefusal ? { ...theirs, "response x-site": undefined } : theirs;
      expect.soft({ ...each, ...ours }).toEqual({ ...each, ...expected });
    }
  });

  it("reads what `caddy adapt` makes of a Caddyfile as that itself", async () => {
    const text = sites(8080, "127.0.0.1:1", "127.0.0.1:2").replace("header -X-App", "");
    const folder = temporaryFolder({ Caddyfile: text });
    const caddy = path.join(path.dirname(await pythonFor("tests")), "caddy");
    const adapted = spawnSync(caddy, ["adapt"], { cwd: folder, encoding: "utf8" }).stdout;
    const json = JSON.stringify(JSON.parse(adapted), null, 1);
    const [one, other] = [
      await imported({ Caddyfile: text }),
      await imported({ "caddy.json": json }),
    ];
    expect(mistakes(other.stdout)).toEqual([]);
    const policies = ({ value }: typeof one, host: string) => {
      const [{ listeners }] = value.binds;
      const routes = listeners.flatMap((each: { hostname?: string; routes: object[] }) =>
        each.hostname === host
          ? each.routes
          : each.routes.filter((route) => JSON.stringify(route).includes(`"${host}"`)),
      );
      return routes.map(({ matches, policies, backends }: Record<string, unknown>) => ({
        matches,
        policies,
        backends,
      }));
    };
    for (const host of ["none.example.com", "example.com"])
      expect(policies(other, host)).toEqual(policies(one, host));
    // Its values are hashes, which the new file does not contain.
    expect(other.stdout).not.toContain("$2y$");
  });

  it("serves a site without a scheme over HTTPS, and redirects to it", async () => {
    const { stdout, value } = await imported({
      Caddyfile: "example.com\n\nreverse_proxy {$APP:localhost:9000}\n",
    });
    expect(mistakes(stdout)).toEqual([]);
    const [secure, plain] = value.binds;
    expect(secure).toMatchObject({
      port: 443,
      listeners: [{ hostname: "example.com", tls: { cert: "certs/example.com.crt" } }],
    });
    expect(secure.listeners[0].routes[0].backends).toEqual([{ host: "${APP:-localhost:9000}" }]);
    expect(plain.listeners[0].routes[0].policies.requestRedirect).toEqual({
      scheme: "https",
      status: 308,
    });
    expect(stdout).toMatch(/# DECIDE: Caddy obtains and renews certificates itself/);
  });

  it.each([
    ["forward_auth auth:9000 {\n uri /verify\n}", "line 2: forward_auth"],
    ["rewrite * /index.php", "line 2: rewrite"],
    ["@internal remote_ip 10.0.0.0/8\nabort @internal", "the matcher remote_ip has no counterpart"],
    ["header /a/* X-Part a", "/a/*: its changes, which apply to some requests only"],
  ])("closes a site that says %j", async (directive, reason) => {
    const { stdout, value } = await imported({
      Caddyfile: `:80 {\n${directive}\nreverse_proxy app:80\n}\n`,
    });
    expect(mistakes(stdout)).toEqual([]);
    expect(stdout).toContain(reason);
    for (const route of value.binds[0].listeners[0].routes)
      expect(route.policies.directResponse.status).toBe(503);
  });
});
