import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, expect, it } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile, root } from "../harness/compile-file.ts";
import { freePort, startEverything, startProcess } from "../harness/test-process.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Says that a Service is one address of this machine: without a cluster there is no DNS of it. */
function endpoint(service: string, namespace: string, portName: string, port: number): string {
  return `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: ${service}-here
  namespace: ${namespace}
  labels: {kubernetes.io/service-name: ${service}}
addressType: IPv4
endpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]
ports: [{name: ${portName}, port: ${port}}]
`;
}

/** Builds an example with changes, and runs the bundle; the port it listens on. */
async function start(
  example: string,
  change: (text: string) => string,
  more: readonly string[],
): Promise<number> {
  const port = await freePort();
  const text = readFileSync(path.join(root, "examples", example, "gateway.yaml"), "utf8");
  const listening = change(text).replace(
    /port: \d+\n {6}protocol: HTTP/,
    `port: ${port}\n      protocol: HTTP`,
  );
  const host = memoryHost({ "gateway.yaml": [listening, ...more].join("\n---\n") });
  const { files } = await compileFile("gateway.yaml", { name: example, host });
  const folder = mkdtempSync(path.join(tmpdir(), "gwc-cluster-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  writeFiles(folder, files);
  const gateway = await startProcess(process.execPath, [path.join(folder, "gateway.mjs")], {
    ready: /listening on 0\.0\.0\.0:(\d+)/,
    env: { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" },
  });
  cleanups.push(() => gateway.stop("SIGKILL"));
  return port;
}

/** A server that shows the headers of a request, as the specification's sample does. */
async function startHeaders(): Promise<number> {
  const server = createServer((incoming, outgoing) => {
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify({ path: incoming.url, headers: incoming.headers }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  cleanups.push(() => server.close());
  // A TCP server's address is an object.
  return (server.address() as AddressInfo).port;
}

async function responseOf(
  port: number,
  host: string,
  method = "GET",
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/headers", method, headers: { host } };
    const sent = request(options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject).end();
  });
}

it("cluster-basic: GET /headers reaches the Service, and what the Gateway's policy does not allow is refused", async () => {
  const upstream = await startHeaders();
  const port = await start("cluster-basic", (text) => text, [
    endpoint("httpbin", "default", "http", upstream),
  ]);
  const found = await responseOf(port, "www.example.com");
  expect(found.status).toBe(200);
  expect(JSON.parse(found.body)).toMatchObject({ path: "/headers" });
  expect((await responseOf(port, "other.example.com")).status).toBe(404);
  expect((await responseOf(port, "www.example.com", "DELETE")).status).toBe(403);
});

it("cluster-mcp: two servers' tools, the policy of one target on that target only, CORS of the route", async () => {
  const [one, two] = await Promise.all([
    startEverything("streamableHttp"),
    startEverything("streamableHttp"),
  ]);
  cleanups.push(
    () => one.stop("SIGKILL"),
    () => two.stop("SIGKILL"),
  );
  const port = await start(
    "cluster-mcp",
    (text) =>
      text
        .replace("everything.agents.svc.cluster.local", "127.0.0.1")
        .replace("port: 3001", `port: ${one.port}`),
    [endpoint("reports", "agents", "mcp", two.port)],
  );
  const client = new Client({ name: "test", version: "1" });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  // The SDK's own type disagrees with itself under exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(url) as never);
  cleanups.push(() => client.close());
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toContain("everything_echo");
  expect(names).toContain("reports_get-env");
  expect(names).not.toContain("everything_get-env");
  await expect(client.callTool({ name: "everything_get-env", arguments: {} })).rejects.toThrow(
    /Unknown tool/,
  );
  const called = await client.callTool({ name: "reports_echo", arguments: { message: "hi" } });
  expect(called.content).toEqual([{ type: "text", text: "Echo: hi" }]);
  const preflight = await fetch(url, {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
});
