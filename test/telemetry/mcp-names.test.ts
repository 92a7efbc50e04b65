import { expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { startCollector, tracedAll } from "../harness/otlp-collector.ts";

it("recorded names of clients contain no query or control character", async () => {
  const collector = await startCollector();
  const { url } = await startMcpServer();
  const gateway = await startGateway({
    file: tracedAll(collector),
    listeners: [
      {
        routes: [
          {
            name: "tools",
            backends: [{ mcp: { targets: [{ name: "web", mcp: { host: url } }] } }],
          },
        ],
      },
    ],
  });
  const ask = async (method: string, params: object) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    await (await fetch(gateway.url, { method: "POST", headers, body })).text();
  };
  await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  await ask("resources/read", { uri: "memo://notes?token=a-secret" });
  await ask("tools/call", { name: "\u001b[31mred\r\n" });
  const { text, value } = await expositionOf(await gateway.statsPort());
  const counted = (method: string, item: string, outcome: string) =>
    value(
      `gwc_mcp_messages_total{route="tools",method="${method}",target="web",item="${item}",outcome="${outcome}"}`,
    );
  expect(counted("initialize", "", "allowed")).toBe(1);
  expect(counted("resources/read", "memo://notes", "failed")).toBe(1);
  expect(counted("tools/call", "", "failed")).toBe(1);
  expect(await gateway.stop()).toBe(0);
  const said = text + gateway.output + JSON.stringify(collector.requests);
  expect(said).toContain("memo://notes");
  expect(said).not.toContain("a-secret");
  expect(text + gateway.output).not.toContain("\u001b");
});
