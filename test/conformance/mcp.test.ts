import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProcess, type TestProcess } from "../harness/test-process.ts";
import { startGateway, startHandwritten } from "../mcp/mcp-gateway.ts";

const script = fileURLToPath(new URL("./mcp-server.ts", import.meta.url));
const suite = fileURLToPath(new URL("../../node_modules/.bin/conformance", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gwc-conformance-"));
let server: TestProcess;
let http: TestProcess;
let stdio: TestProcess;
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
  server = await startProcess(process.execPath, [script], { ready: /port (\d+)/, env: {} });
  [http, stdio] = await Promise.all([
    startGateway([
      {
        name: "http",
        targets: [{ name: "one", mcp: { host: `http://127.0.0.1:${server.port}/mcp` } }],
      },
    ]),
    startHandwritten({
      routes: [
        {
          name: "stdio",
          targets: [{ name: "one", stdio: { cmd: process.execPath, args: [script, "stdio"] } }],
          // The suite ends few of its sessions.
          limits: { sessions: 2 },
        },
      ],
    }),
  ]);
  direct = await verdicts(`http://localhost:${server.port}/mcp`);
});
afterAll(async () => {
  await Promise.all([http.stop(), stdio.stop()]);
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the suite's server scenarios of revision 2025-11-25: "passed, failed" of each. */
async function verdicts(url: string): Promise<ReadonlyMap<string, string>> {
  const args = [suite, "server", "--url", url, "--requirements", "2025-11-25", "-o", folder];
  const output = await new Promise<string>((resolve) => {
    // Its status counts scenarios that are not scored too.
    execFile(process.execPath, args, { maxBuffer: 1 << 24 }, (_error, stdout) => resolve(stdout));
  });
  const found = new Map<string, string>();
  for (const [, name = "", counts = ""] of output.matchAll(
    /^[✓✗] (\S+): (\d+ passed, \d+ failed)/gm,
  )) {
    found.set(name, counts);
  }
  return found;
}

test("the fixture passes every scored scenario itself", () => {
  const pending = ["json-schema-2020-12"];
  const failed = [...direct].filter(
    ([name, counts]) => !counts.endsWith(" 0 failed") && !pending.includes(name),
  );
  expect(failed).toEqual([]);
  expect(direct.size).toBeGreaterThanOrEqual(30);
});

test.each(["http", "stdio"])(
  "what passes directly passes over %s",
  { timeout: 240_000 },
  async (kind) => {
    const { port } = kind === "http" ? http : stdio;
    const through = await verdicts(`http://localhost:${port}/mcp`);
    for (const [name, counts] of direct) {
      const isException = exceptions[kind]?.[name] !== undefined;
      if (isException)
        expect([name, through.get(name)]).toEqual([name, expect.stringContaining(" 0 failed")]);
      else expect([name, through.get(name)]).toEqual([name, counts]);
    }
  },
);
