import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { serverScripts, startBothServers } from "../mcp/both-servers.ts";
import { startHandwritten, startMcpGateway } from "../mcp/mcp-gateway.ts";
import { expectAsDirectly, mergedRoutes } from "./merged.ts";
import { verdicts } from "./verdicts.ts";

let http: Gateway;
let stdio: Gateway;
let direct: ReadonlyMap<string, string>;

/** Scenarios whose outcome differs through the gateway, with the reason. */
const exceptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  http: {},
  stdio: {
    "server-sse-multiple-streams":
      "a child's response that nothing comes before is JSON; the suite looks at streams only and skips one check",
  },
};

beforeAll(async () => {
  const { sessions: port, stateless } = await startBothServers();
  [http, stdio] = await Promise.all([
    startMcpGateway([
      {
        name: "http",
        targets: [{ name: "one", mcp: { host: `http://127.0.0.1:${port}/mcp` } }],
      },
      ...mergedRoutes({ sessions: port, stateless }),
    ]),
    startHandwritten({
      routes: [
        {
          name: "stdio",
          targets: [
            {
              name: "one",
              stdio: { cmd: process.execPath, args: [serverScripts.sessions, "stdio"] },
            },
          ],
          // The suite ends few of its sessions.
          limits: { sessions: 2 },
        },
      ],
    }),
  ]);
  direct = await verdicts(`http://localhost:${port}/mcp`, "2025-11-25");
});

it("the fixture passes every scored scenario itself", () => {
  const pending = ["json-schema-2020-12"];
  const failed = [...direct].filter(
    ([name, counts]) => !counts.endsWith(" 0 failed") && !pending.includes(name),
  );
  expect(failed).toEqual([]);
  expect(direct.size).toBeGreaterThanOrEqual(30);
});

it.each(["http", "stdio"])(
  "what passes directly passes over %s",
  { timeout: 600_000 },
  async (kind) => {
    const { port } = kind === "http" ? http : stdio;
    const through = await verdicts(`http://localhost:${port}/mcp`, "2025-11-25");
    for (const [name, counts] of direct) {
      const isException = exceptions[kind]?.[name] !== undefined;
      if (isException)
        expect([name, through.get(name)]).toEqual([name, expect.stringContaining(" 0 failed")]);
      else expect([name, through.get(name)]).toEqual([name, counts]);
    }
  },
);

it.each(["/merged-sessions", "/merged-stateless"])(
  "what passes directly passes at one of two merged servers, %s",
  { timeout: 600_000 },
  async (path) => {
    await expectAsDirectly({ port: http.port, path }, "2025-11-25", direct, {
      "server-sse-multiple-streams":
        "a response that nothing comes before is JSON; the suite looks at streams only and skips one check",
    });
  },
);
