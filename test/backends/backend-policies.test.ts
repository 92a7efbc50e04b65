import { readFileSync } from "node:fs";
import { createServer as createHttp2Server, createSecureServer } from "node:http2";
import { connect as connectTcp, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { tell } from "../harness/tell.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";
import { exactRoutes, get } from "./exact-routes.ts";
import { secureUpstream } from "./secure-upstream.ts";

describe("http", () => {
  it("HTTP2 is spoken by prior knowledge and by ALPN, many requests on one connection", async () => {
    const folder = temporaryFolder();
    makeCertificate(folder, "server", { names: "DNS:localhost" });
    const file = (name: string) => readFileSync(join(folder, name));
    let sessions = 0;
    const serve = (stream: import("node:http2").ServerHttp2Stream, headers: object) => {
      const body: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => body.push(chunk));
      stream.on("end", () => {
        stream.respond({ ":status": 200, "set-cookie": ["a=1", "b=2"] });
        stream.end(JSON.stringify({ ...headers, length: Buffer.concat(body).length }));
      });
    };
    const plain = createHttp2Server()
      .on("stream", serve)
      .on("session", () => {
        sessions += 1;
      });
    const secure = createSecureServer({ cert: file("server.pem"), key: file("server.key") });
    secure.on("stream", serve);
    const gateway = await startGateway({
      folder,
      listeners: exactRoutes({
        "/plain": {
          host: `127.0.0.1:${await listen(plain)}`,
          policies: { http: { version: "HTTP2" } },
        },
        "/secure": {
          host: `localhost:${await listen(secure)}`,
          policies: { http: { version: "HTTP2" }, backendTLS: { root: "server.pem" } },
        },
      }),
    });
    // Requests that meet no open connection open one each; then they share.
    await get(gateway, "/plain");
    const responses = await Promise.all(Array.from({ length: 40 }, () => get(gateway, "/plain")));
    expect(responses.map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect(responses[0]?.seen).toMatchObject({ ":method": "GET", ":path": "/plain" });
    expect(sessions).toBe(1);
    expect((await get(gateway, "/secure")).seen).toMatchObject({ ":scheme": "https" });
    const posted = await fetch(`http://127.0.0.1:${gateway.port}/plain`, {
      method: "POST",
      body: Buffer.alloc(300_000),
    });
    expect(posted.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await posted.json()).toMatchObject({ length: 300_000 });
  });

  it("a server that does not speak the version is no backend", async () => {
    const { folder, port } = await secureUpstream();
    const policies = { http: { version: "HTTP2" }, backendTLS: { root: "ca.pem" } };
    const gateway = await startGateway({
      folder,
      listeners: exactRoutes({ "/": { host: `localhost:${port}`, policies } }),
    });
    expect((await get(gateway)).status).toBe(503);
  });

  it("a response whose head takes too long is a 504, and a slow body is not", async () => {
    let left = 0;
    const upstream = await startUpstream((request, response) => {
      response.on("close", () => {
        left += 1;
      });
      if (request.url !== "/") return;
      response.write("first ");
      setTimeout(() => response.end("second"), 600);
    });
    const gateway = await startGateway({
      listeners: [
        {
          routes: [
            {
              matches: [{ path: { exact: "/later" } }],
              policies: { http: { requestTimeout: "20s" } },
              backends: [{ host: upstream }],
            },
            { policies: { http: { requestTimeout: "300ms" } }, backends: [{ host: upstream }] },
          ],
        },
      ],
    });
    const later = get(gateway, "/later").then(() => "later");
    const slow = get(gateway, "/slow").then(({ status }) => status);
    expect(await Promise.race([later, slow])).toBe(504);
    await eventually(() => (left === 1 ? true : null), "the end of the call");
    // On a busy machine the head alone may take too long.
    const found = await eventually(async () => {
      const { status, seen } = await get(gateway);
      return status === 504 ? null : seen;
    }, "a head in time");
    expect(found).toBe("first second");
  });
});

describe("tcp", () => {
  it("a connection that takes too long is a 503", async () => {
    // A handshake that never comes.
    const mute = createTcpServer(() => {});
    const host = `localhost:${await listen(mute)}`;
    const within = (connectTimeout: string) => ({
      host,
      policies: { tcp: { connectTimeout }, backendTLS: { insecure: true } },
    });
    const listeners = exactRoutes({ "/later": within("20s"), "/": within("200ms") });
    const gateway = await startGateway({ listeners });
    const later = get(gateway, "/later").then(() => "later");
    const soon = get(gateway).then(({ status }) => status);
    expect(await Promise.race([later, soon])).toBe(503);
  });

  it("the time of a connection does not count while the gateway gets no processor", async () => {
    const upstream = await secureUpstream();
    const greeted = Promise.withResolvers<() => void>();
    // The server's part of the handshake waits for the test.
    const way = createTcpServer((client) => {
      const server = connectTcp(upstream.port, "127.0.0.1");
      for (const each of [client, server]) each.on("error", () => {});
      client.on("data", (bytes) => {
        server.write(bytes);
        greeted.resolve(() => server.pipe(client));
      });
    });
    const policies = { tcp: { connectTimeout: "8s" }, backendTLS: { insecure: true } };
    const host = `localhost:${await listen(way)}`;
    const gateway = await startGateway({ listeners: exactRoutes({ "/": { host, policies } }) });
    const response = get(gateway);
    const respond = await greeted.promise;
    gateway.signal("SIGSTOP");
    respond();
    await pause(8500);
    gateway.signal("SIGCONT");
    expect((await response).status).toBe(200);
  });

  it("keepalive probes are set as configured, on both sides", async () => {
    const upstream = await startUpstream(tell);
    const keepalives = { time: "77s", interval: "9s", retries: 3 };
    const gateway = await startGateway({
      file: { frontendPolicies: { tcp: { keepalives: { time: "55s" } } } },
      listeners: [
        { routes: [{ policies: { tcp: { keepalives } }, backends: [{ host: upstream }] }] },
      ],
    });
    await get(gateway);
    const upstreamPort = Number(new URL(upstream).port);
    expect(keepaliveTimer(upstreamPort, "remote")).toBeGreaterThan(70);
    expect(keepaliveTimer(upstreamPort, "remote")).toBeLessThanOrEqual(77);
    expect(keepaliveTimer(gateway.port, "local")).toBeGreaterThan(50);
    expect(keepaliveTimer(gateway.port, "local")).toBeLessThanOrEqual(55);
  });
});

/** Seconds until the next probe of an established connection, as the kernel has it (proc(5), /proc/net/tcp). */
function keepaliveTimer(port: number, end: "local" | "remote"): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) =>
    readFileSync(table, "utf8").split("\n").slice(1),
  );
  for (const line of lines) {
    const [, local = "", remote = "", state, , timer = ""] = line.trim().split(/\s+/);
    if (!(end === "local" ? local : remote).endsWith(wanted) || state !== "01") continue;
    const [kind, ticks = "0"] = timer.split(":");
    if (kind === "02") return Number.parseInt(ticks, 16) / 100;
  }
  return -1;
}
