import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "../mcp/mcp-gateway.ts";
import { expectAsDirectly, mergedRoutes } from "./merged.ts";
import { verdicts } from "./verdicts.ts";

const script = ownScript("conformance/stateless-server.ts");
let gateway: Gateway;
let direct: ReadonlyMap<string, string>;

beforeAll(async () => {
  const server = new TestProcess(process.execPath, [script, "http"]);
  const [, port] = await server.seen(/port (\d+)/);
  const targets = [{ name: "one", mcp: { host: `http://127.0.0.1:${port}/mcp` } }];
  const only = new TestProcess(process.execPath, [script, "http", "reject"]);
  const [, onlyPort] = await only.seen(/port (\d+)/);
  const statelessOnly = [{ name: "one", mcp: { host: `http://127.0.0.1:${onlyPort}/mcp` } }];
  const args = [script, "stdio"];
  const child = [{ name: "one", stdio: { cmd: process.execPath, args } }];
  const old = ownScript("conformance/mcp-server.ts");
  const oldServer = new TestProcess(process.execPath, [old]);
  const [, oldPort] = await oldServer.seen(/port (\d+)/);
  const withSessions = [{ name: "one", mcp: { host: `http://127.0.0.1:${oldPort}/mcp` } }];
  gateway = await startMcpGateway([
    { name: "child", path: "/child", targets: child },
    { name: "sessions", path: "/sessions", targets: withSessions },
    { name: "open", path: "/open", targets },
    { name: "ruled", path: "/ruled", targets, rules: ["true"] },
    { name: "only", path: "/only", targets: statelessOnly },
    ...mergedRoutes({ sessions: oldPort, stateless: onlyPort }),
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

it.each(["open", "ruled", "child"])(
  "what passes directly passes through a gateway: over HTTP, open or with rules, and over stdio (%s)",
  { timeout: 600_000 },
  async (route) => {
    const through = await verdicts(`http://localhost:${gateway.port}/${route}`, "2026-07-28");
    expect([...through]).toEqual([...direct]);
  },
);

it("clients with sessions find a server without one that passes every scenario of theirs", {
  timeout: 600_000,
}, async () => {
  const through = await verdicts(`http://localhost:${gateway.port}/only`, "2025-11-25");
  const failed = [...through].filter(
    ([name, counts]) => !counts.endsWith(" 0 failed") && !isUnscored(name),
  );
  expect(failed).toEqual([]);
  expect(through.size).toBeGreaterThanOrEqual(30);
});

/** Scenarios that a server with sessions cannot show, or this one does not. */
const missing: Readonly<Record<string, string>> = {
  "server-stateless": "it never refuses for want of a capability: its tool fails",
  "sep-2164-resource-not-found": "it does not repeat the URI in its error",
  "input-required-result-basic-elicitation": "the names of questions are the gateway's",
  "input-required-result-ignore-extra-params": "the names of questions are the gateway's",
  "input-required-result-non-tool-request": "its prompts ask nothing",
  "http-custom-header-server-validation": "its tools want nothing in headers",
};

it("clients without sessions find a server with them that passes what it can show", {
  timeout: 600_000,
}, async () => {
  const through = await verdicts(`http://localhost:${gateway.port}/sessions`, "2026-07-28");
  const other = [...through].filter(([name, counts]) => direct.get(name) !== counts);
  expect(other.map(([name]) => name).sort()).toEqual(Object.keys(missing).sort());
});

it.each([
  ["/merged-stateless", {}],
  ["/merged-sessions", missing],
])(
  "clients without sessions find one of two merged servers as they find one directly, %s",
  {
    timeout: 600_000,
  },
  async (path, exceptions) => {
    await expectAsDirectly({ port: gateway.port, path }, "2026-07-28", direct, exceptions);
  },
);
