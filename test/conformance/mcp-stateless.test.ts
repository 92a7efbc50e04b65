import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "../mcp/mcp-gateway.ts";
import { verdicts } from "./verdicts.ts";

const script = fileURLToPath(new URL("./stateless-server.ts", import.meta.url));
let gateway: Gateway;
let direct: ReadonlyMap<string, string>;

beforeAll(async () => {
  const server = new TestProcess(process.execPath, [script, "http"]);
  const [, port] = await server.seen(/port (\d+)/);
  const targets = [{ name: "one", mcp: { host: `http://127.0.0.1:${port}/mcp` } }];
  const only = new TestProcess(process.execPath, [script, "http", "reject"]);
  const [, onlyPort] = await only.seen(/port (\d+)/);
  const statelessOnly = [{ name: "one", mcp: { host: `http://127.0.0.1:${onlyPort}/mcp` } }];
  gateway = await startMcpGateway([
    { name: "open", path: "/open", targets },
    { name: "ruled", path: "/ruled", targets, rules: ["true"] },
    { name: "only", path: "/only", targets: statelessOnly },
  ]);
  direct = await verdicts(`http://localhost:${port}/mcp`, "2026-07-28");
});

/** Unscored: the fixture has no tasks, and does not check arguments against headers. */
const isUnscored = (name: string) =>
  name.startsWith("tasks-") ||
  name === "json-schema-2020-12" ||
  name === "http-custom-header-server-validation";

it("the fixture passes every scored scenario itself", () => {
  const failed = [...direct].filter(
    ([name, counts]) => !counts.endsWith(" 0 failed") && !isUnscored(name),
  );
  expect(failed).toEqual([]);
  expect(direct.size).toBeGreaterThanOrEqual(50);
});

it.each(["open", "ruled"])(
  "what passes directly passes over an HTTP target, on a route that is %s",
  { timeout: 240_000 },
  async (route) => {
    const through = await verdicts(`http://localhost:${gateway.port}/${route}`, "2026-07-28");
    expect([...through]).toEqual([...direct]);
  },
);

it("clients with sessions find a server without one that passes every scenario of theirs", {
  timeout: 240_000,
}, async () => {
  const through = await verdicts(`http://localhost:${gateway.port}/only`, "2025-11-25");
  const failed = [...through].filter(
    ([name, counts]) => !counts.endsWith(" 0 failed") && !isUnscored(name),
  );
  expect(failed).toEqual([]);
  expect(through.size).toBeGreaterThanOrEqual(30);
});
