import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { openSession, post } from "../mcp/raw-client.ts";

/** An MCP server that answers every request with the credentials it was shown. */
async function secureServer(folder: string, seen: (string | undefined)[]): Promise<number> {
  const file = (name: string) => readFileSync(join(folder, name));
  const server = createServer({ cert: file("server.pem"), key: file("server.key") });
  server.on("request", (request, response) => {
    seen.push(request.headers.authorization);
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(text || "{}");
      if (id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const initialized = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      };
      const tools = { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
      const result = method === "initialize" ? initialized : tools;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  return listen(server);
}

it("targets have TLS and credentials of their own, over those of the backend", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "server", { names: "DNS:localhost" });
  const seen: (string | undefined)[] = [];
  const host = `https://localhost:${await secureServer(folder, seen)}/mcp`;
  const gateway = await startGateway({
    folder,
    env: { SHARED: "shared", SPECIAL: "special" },
    listeners: [
      {
        routes: [
          {
            backends: [
              {
                policies: { backendTLS: { root: "server.pem" }, backendAuth: { key: "${SHARED}" } },
                mcp: {
                  targets: [
                    { name: "one", mcp: { host } },
                    {
                      name: "two",
                      mcp: { host },
                      policies: { backendAuth: { key: "${SPECIAL}" } },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const call = async (method: string, session?: string) => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/mcp`, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        authorization: "Bearer of-the-client",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params:
          method === "initialize"
            ? {
                protocolVersion: "2025-06-18",
                capabilities: {},
                clientInfo: { name: "c", version: "1" },
              }
            : {},
      }),
    });
    return { session: response.headers.get("mcp-session-id") ?? "", text: await response.text() };
  };
  const { session } = await call("initialize");
  const { text } = await call("tools/list", session);
  expect(text).toContain("one_echo");
  expect(text).toContain("two_echo");
  expect(new Set(seen)).toEqual(new Set(["Bearer shared", "Bearer special"]));
});

it("a server of MCP is named by its URL, by its host and port, or by both in one", async () => {
  const { url } = await startMcpServer();
  const { host, hostname, port } = new URL(url);
  const names = [{ host: `${url}/mcp` }, { host: hostname, port: Number(port) }, { host }];
  const targets = names.map((mcp, index) => ({ name: `t${index}`, mcp }));
  const { url: gateway } = await startGateway({
    listeners: [{ routes: [{ backends: [{ mcp: { targets } }] }] }],
  });
  const headers = await openSession(gateway);
  const list = await post(gateway, { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
  for (const index of names.keys()) expect(list.text).toContain(`"t${index}_hello"`);
});
