import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, onTestFinished } from "vitest";
import { startEverything } from "../harness/everything-server.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { root } from "../harness/root.ts";

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
  await startGateway({ config: [listening, ...more].join("\n---\n") });
  return port;
}

/** A server that shows the headers of a request, as the specification's sample does. */
async function startHeaders(): Promise<number> {
  return listen(
    createServer((incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ path: incoming.url, headers: incoming.headers }));
    }),
  );
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
  const port = await start(
    "cluster-mcp",
    (text) =>
      text
        .replace("everything.agents.svc.cluster.local", "127.0.0.1")
        .replace("port: 3001", `port: ${one}`),
    [endpoint("reports", "agents", "mcp", two)],
  );
  const client = new Client({ name: "test", version: "1" });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  // The SDK's own type disagrees with itself under exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(url) as never);
  onTestFinished(() => client.close());
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
