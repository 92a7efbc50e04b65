import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "../mcp/mcp-gateway.ts";
import { asOneOfTwo } from "./one-of-two.ts";
import { verdicts } from "./verdicts.ts";

const servers = {
  sessions: ["conformance/mcp-server.ts"],
  stateless: ["conformance/stateless-server.ts", "http", "reject"],
  both: ["conformance/stateless-server.ts", "http"],
} as const;
let gateway: Gateway;
const urls = new Map<string, string>();

beforeAll(async () => {
  for (const [name, [script, ...args]] of Object.entries(servers)) {
    const server = new TestProcess(process.execPath, [ownScript(script), ...args]);
    const [, port] = await server.seen(/port (\d+)/);
    urls.set(name, `http://localhost:${port}/mcp`);
  }
  const target = (name: string, server: string) => ({
    name,
    mcp: { host: urls.get(server)?.replace("localhost", "127.0.0.1") ?? "" },
  });
  gateway = await startMcpGateway(
    (["sessions", "stateless"] as const).map((server) => ({
      name: server,
      path: `/${server}`,
      targets: [
        target("one", server),
        target("two", server === "sessions" ? "stateless" : "sessions"),
      ],
    })),
  );
});

const direct = new Map<string, ReturnType<typeof verdicts>>();

/** What clients of a revision find at a server itself: the same for all routes to it. */
function directVerdicts(server: keyof typeof servers, revision: Parameters<typeof verdicts>[1]) {
  const key = `${server} ${revision}`;
  const found = direct.get(key) ?? verdicts(urls.get(server) ?? "", revision);
  direct.set(key, found);
  return found;
}

const onlyStreams = {
  "server-sse-multiple-streams":
    "a response that nothing comes before is JSON; the suite looks at streams only and skips one check",
};
/** What a server with sessions cannot show to clients without, or this one does not. */
const missing = {
  "server-stateless": "it never refuses for want of a capability: its tool fails",
  "sep-2164-resource-not-found": "it does not repeat the URI in its error",
  "input-required-result-basic-elicitation": "the names of questions are the gateway's",
  "input-required-result-ignore-extra-params": "the names of questions are the gateway's",
  "input-required-result-non-tool-request": "its prompts ask nothing",
  "http-custom-header-server-validation": "its tools want nothing in headers",
};

// Beside each server is one of the other era.
it.each([
  ["2025-11-25", "sessions", "sessions", onlyStreams],
  ["2025-11-25", "stateless", "sessions", onlyStreams],
  ["2026-07-28", "stateless", "both", {}],
  ["2026-07-28", "sessions", "both", missing],
] as const)(
  "a client of %s finds one of two merged servers, of %s, as it finds one directly",
  { timeout: 240_000 },
  async (revision, route, server, exceptions) => {
    const [atServer, through] = await Promise.all([
      directVerdicts(server, revision),
      verdicts(await asOneOfTwo(gateway.port, `/${route}`), revision),
    ]);
    const other = [...atServer].filter(([name, counts]) => through.get(name) !== counts);
    const seen = other.map(([name, counts]) => `${name}: ${counts}; through: ${through.get(name)}`);
    const names = other.map(([name]) => name).sort();
    expect(names, seen.join("\n")).toEqual(Object.keys(exceptions).sort());
    expect(through.size).toBeGreaterThanOrEqual(30);
  },
);
