import type { IncomingMessage } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { startRoutes } from "./routes.ts";

let server: Scripted;
let gateway: Gateway;

/** Starts a server like those of nginx' auth_request and forward auth: it decides by the token and returns the user. */
beforeAll(async () => {
  server = await startScripted((response, _count, { headers }) => {
    switch (headers.authorization) {
      case "Bearer alice":
        response.writeHead(202, { "x-user": "alice", "x-team": "blue", connection: "close" }).end();
        break;
      case "Bearer hop":
        response.writeHead(200, { "x-user": "hop", connection: "close, X-User" }).end();
        break;
      case "Bearer nameless":
        response.writeHead(204).end();
        break;
      case "Bearer broken":
        response.writeHead(500, { "x-user": "root" }).end("stack trace");
        break;
      default:
        response
          .writeHead(401, { "www-authenticate": "Bearer", "x-why": "no token" })
          .end("who are you?");
    }
  }, "anything");
  const http = (more: object) => ({
    policies: { extAuthz: { host: server.host, policies: patient, protocol: { http: more } } },
  });
  gateway = await startRoutes(
    {
      plain: http({ includeResponseHeaders: ["X-User"] }),
      elsewhere: http({
        path: '"/verify?from=" + request.path',
        addRequestHeaders: { "x-original-method": "request.method" },
      }),
      exchanged: http({ addRequestHeaders: { Authorization: '"Bearer alice"' } }),
      posted: http({
        body: 'form.encode({"grant": "x"})',
        addRequestHeaders: { ":method": '"POST"', "content-type": '"text/x"' },
      }),
      expiring: {
        policies: {
          extAuthz: {
            host: server.host,
            policies: patient,
            protocol: { http: {} },
            cache: {
              key: ['request.headers["authorization"]'],
              ttl: 'int(request.headers["x-expires"]) - 5',
            },
          },
        },
      },
      asked: http({ body: '{"path": request.path, "method": request.method}' }),
      timed: {
        policies: {
          extAuthz: {
            host: server.host,
            policies: patient,
            protocol: { http: { metadata: { team: 'response.headers["x-team"]' } } },
            cache: {
              key: ['request.headers["authorization"]'],
              ttl: 'duration(request.headers["x-ttl"] + (extauthz.team == "blue" ? "h" : "ms"))',
            },
          },
        },
      },
      login: http({ redirect: '"https://login.test/?back=" + request.path' }),
      told: {
        policies: {
          ...http({ metadata: { team: 'response.headers["x-team"]' } }).policies,
          authorization: { rules: ['extauthz.team == "blue"'] },
        },
      },
    },
    await startEcho(),
  );
});

function ask(path: string, user: string, headers: Record<string, string> = {}): Promise<Response> {
  return send(`${gateway.url}${path}`, "GET", { authorization: `Bearer ${user}`, ...headers });
}

function received({ body }: Response): { readonly headers: IncomingMessage["headers"] } {
  return JSON.parse(body);
}

describe("extAuthz over HTTP", () => {
  it("asks for the path of the request, with its credentials and no other header", async () => {
    await ask("/plain/a?b=c", "alice", { cookie: "a=b", "x-user": "root" });
    const asked = server.received.find(({ url }) => url === "/plain/a?b=c");
    expect(asked?.method).toBe("GET");
    expect(asked?.headers).toMatchObject({ authorization: "Bearer alice" });
    expect(asked?.headers).not.toHaveProperty("cookie");
    expect(asked?.headers).not.toHaveProperty("x-user");
  });

  it("gives the backend only the requested headers of the server", async () => {
    const spoofed = { "x-user": "root", X_User: "root" };
    const named = received(await ask("/plain", "alice", spoofed)).headers;
    expect(named["x-user"]).toBe("alice");
    expect(named).not.toHaveProperty("x-team");
    expect(named).not.toHaveProperty("x_user");
    const nameless = received(await ask("/plain", "nameless", spoofed)).headers;
    expect(nameless).not.toHaveProperty("x-user");
    expect(nameless).not.toHaveProperty("x_user");
  });

  it("withholds headers that the server's Connection names", async () => {
    const { headers } = received(await ask("/plain", "hop", { "x-user": "root" }));
    expect(headers).not.toHaveProperty("x-user");
  });

  it("asks for another path, with headers of expressions", async () => {
    expect((await ask("/elsewhere", "alice")).status).toBe(200);
    const asked = server.received.find(({ url }) => url === "/verify?from=/elsewhere");
    expect(asked?.headers["x-original-method"]).toBe("GET");
  });

  it("sends a body of an expression, and the backend the client's", async () => {
    const { body } = await send(
      `${gateway.url}/asked`,
      "POST",
      { authorization: "Bearer alice" },
      "secret",
    );
    const asked = server.received.find(({ url }) => url === "/asked");
    expect(asked?.body.toString()).toBe('{"path":"/asked","method":"POST"}');
    expect(JSON.parse(body).headers["content-length"]).toBe("6");
  });

  it("asks with the method of an expression", async () => {
    expect((await ask("/posted", "alice")).status).toBe(200);
    const asked = server.received.find(({ url }) => url === "/posted");
    expect(asked?.method).toBe("POST");
    expect(asked?.body.toString()).toBe("grant=x");
  });

  it("caches a verdict until a number of seconds since 1970", async () => {
    const asked = () => server.received.filter(({ url }) => url === "/expiring").length;
    const now = Math.floor(Date.now() / 1000);
    for (const expires of [now + 900, now + 900])
      await ask("/expiring", "alice", { "x-expires": String(expires) });
    expect(asked()).toBe(1);
    for (const expires of [now, now + 4])
      await ask("/expiring", "nameless", { "x-expires": String(expires) });
    expect(asked()).toBe(3);
  });

  it("caches a verdict for a time that depends on it", async () => {
    const asked = () => server.received.filter(({ url }) => url === "/timed").length;
    for (const ttl of ["1", "1"])
      expect((await ask("/timed", "alice", { "x-ttl": ttl })).status).toBe(200);
    expect(asked()).toBe(1);
    for (const ttl of ["0", "soon", "0"]) await ask("/timed", "nameless", { "x-ttl": ttl });
    expect(asked()).toBe(4);
  });

  it("sends the server a header of an expression instead of the client's own", async () => {
    const before = server.received.length;
    expect((await ask("/exchanged", "nobody")).status).toBe(200);
    expect(server.received[before]?.headers.authorization).toBe("Bearer alice");
  });

  it("forwards a refusal unchanged, or redirects the client to log in", async () => {
    const refused = await ask("/plain", "nobody");
    expect({ ...refused, headers: undefined }).toMatchObject({ status: 401, body: "who are you?" });
    expect(refused.headers).toMatchObject({ "www-authenticate": "Bearer", "x-why": "no token" });
    const away = await ask("/login", "nobody");
    expect(away.status).toBe(302);
    expect(away.headers.location).toBe("https://login.test/?back=/login");
  });

  it("treats an error of the server as no verdict", async () => {
    const response = await ask("/plain", "broken");
    expect(response.status).toBe(403);
    expect(response.body).toBe("external authorization failed");
  });

  it("provides the server's response to later rules", async () => {
    expect((await ask("/told", "alice")).status).toBe(200);
    expect((await ask("/told", "nameless")).status).toBe(403);
  });
});
