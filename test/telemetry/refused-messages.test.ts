import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";

const json = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function rpc(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

it("the log says what is wrong with a malformed message", async () => {
  const { url } = await startMcpServer();
  const text = await startUpstream((_, response) => response.end("no completion"));
  const at = (pathPrefix: string) => [{ path: { pathPrefix } }];
  const mcp = { targets: [{ name: "web", mcp: { host: url } }] };
  const gateway = await startGateway({
    file: { config: { logging: { audit: {} } } },
    listeners: [
      {
        routes: [
          {
            name: "tools",
            matches: at("/mcp"),
            policies: { mcpAuthorization: { rules: ['mcp.tool.name == "hello"'] } },
            backends: [{ mcp }],
          },
          {
            name: "models",
            matches: at("/v1"),
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: "127.0.0.1:1" } }],
          },
          {
            name: "keys",
            matches: at("/keys"),
            policies: { apiKey: { keys: [{ key: "$TEAM_KEY", allowedModels: ["small"] }] } },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: new URL(text).host } }],
          },
          {
            name: "web",
            policies: { csrf: {}, directResponse: { status: 200 } },
          },
        ],
      },
    ],
    env: { TEAM_KEY: "a-team-key" },
  });
  const post = (path: string, body: string, headers: Record<string, string> = json) =>
    fetch(`${gateway.url}${path}`, { method: "POST", headers, body }).then((it) => it.text());
  await post("/mcp", rpc("ping"), { ...json, origin: "https://evil.example" });
  await post("/mcp", rpc("tools/list"), { ...json, "mcp-session-id": "made-up" });
  await post("/mcp", "[]");
  await post("/mcp", rpc("tools/call", { name: 7 }));
  await post("/mcp", rpc("made/up"));
  await post("/v1/chat/completions", '{"messages":[]}');
  await post("/v1/chat/completions", "no secret of a body");
  const key = { ...json, authorization: "Bearer a-team-key" };
  await post("/keys", '{"model":"large","messages":[]}', key);
  await post("/keys", '{"model":"small","messages":[]}', key);
  await post("/form", "", { origin: "https://evil.example" });
  const raw = new RawClient(gateway.port);
  raw.send("GET / HTTP/1.1\r\n\r\n");
  await raw.closes();
  await gateway.stop();
  const lines = gateway.output.split("\n").filter((line) => line.includes("\trequest "));
  const said = lines.map((line) => [
    / http\.status=(\d+)/.exec(line)?.[1],
    / reason=(\w+)/.exec(line)?.[1],
    / error="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]?.replaceAll('\\"', "'"),
  ]);
  expect(said).toEqual([
    ["403", "MCP", "Origin not allowed: https://evil.example"],
    ["404", "MCP", "Session not found"],
    ["400", "MCP", "Invalid Request: the batch is empty"],
    ["400", "MCP", "Invalid params: name must be a string"],
    ["200", "Authorization", undefined],
    ["400", "BadRequest", "'model' is missing"],
    ["400", "BadRequest", "the request body is not valid JSON"],
    ["403", "Authorization", "the model 'large' is not open to this API key"],
    ["502", "UpstreamFailure", "the provider gave no valid response"],
    ["403", "Csrf", "Origin https://evil.example"],
    ["400", "BadRequest", "no Host header"],
  ]);
  expect(lines[4]).toContain('rule="no rule names the method"');
  expect(gateway.output).not.toContain("no secret");
  const denied = gateway.output.split("\n").filter((line) => line.includes('"event":"denied"'));
  expect(denied.map((line) => JSON.parse(line).reason)).toEqual([
    ...["MCP", "Authorization", "Authorization"],
    "Csrf",
  ]);
});
