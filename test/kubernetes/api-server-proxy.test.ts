import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { ApiServer, WatchRefused } from "../../compiler/controller/kubernetes/api-server.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { type AskedTunnel, startConnectProxy } from "../harness/connect-proxy.ts";
import { listen } from "../harness/listen.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A server with TLS that answers every request with its path, watches with two lines and an abort. */
async function startServer() {
  const folder = temporaryFolder();
  makeCertificate(folder, "server", { names: "DNS:api.test,IP:127.0.0.1" });
  const [cert, key] = ["pem", "key"].map((end) => readFileSync(path.join(folder, `server.${end}`)));
  const server = createServer({ cert, key }, (request, response) => {
    const { url = "", headers } = request;
    if (url.includes("gone")) response.writeHead(410).end("{}");
    else if (url.includes("watch")) {
      response.write('{"type":"ADDED"}\n{"type":');
      setImmediate(() => response.write('"DELETED"}\n', () => response.destroy()));
    } else response.end(JSON.stringify({ url, authorization: headers.authorization }));
  });
  const port = await listen(server);
  return { port, ca: cert?.toString() ?? "" };
}

function open(host: string, { port, ca }: { readonly port: number; readonly ca: string }) {
  const server = new URL(`https://${host}:${port}/base`);
  const access = { server, ca, cert: undefined, key: undefined, namespace: "gwc" };
  return new ApiServer({ ...access, token: () => "t" });
}

const ANSWER = { status: 200, body: { url: "/base/api?limit=1", authorization: "Bearer t" } };

afterEach(() => {
  vi.unstubAllEnvs();
});

it("the API server is reached through the proxy of HTTPS_PROXY", async () => {
  const server = await startServer();
  const asked: AskedTunnel[] = [];
  const proxy = await startConnectProxy(asked, () => ({ host: "127.0.0.1", port: server.port }));
  vi.stubEnv("HTTPS_PROXY", `http://user:pass@127.0.0.1:${proxy}`);
  const api = open("api.test", server);
  expect(await api.request({ method: "GET", path: "/api?limit=1" })).toEqual(ANSWER);
  expect(asked).toEqual([[`api.test:${server.port}`, `Basic ${btoa("user:pass")}`]]);
  api.close();
});

it("a host in NO_PROXY is reached directly", async () => {
  const server = await startServer();
  vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:9");
  vi.stubEnv("NO_PROXY", "127.0.0.1");
  const api = open("127.0.0.1", server);
  expect(await api.request({ method: "GET", path: "/api?limit=1" })).toEqual(ANSWER);
  api.close();
});

it("a watch reports each whole line, and rejects when the connection is aborted", async () => {
  const api = open("127.0.0.1", await startServer());
  const events: unknown[] = [];
  const settings = { silence: 10_000, signal: new AbortController().signal };
  const watch = api.watch("/watch", (event) => events.push(event), settings);
  await expect(watch).rejects.toThrow();
  expect(events).toEqual([{ type: "ADDED" }, { type: "DELETED" }]);
  const refused = api.watch("/gone", () => {}, settings);
  await expect(refused).rejects.toThrow(WatchRefused);
  api.close();
});
