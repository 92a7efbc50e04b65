import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { definePolicy } from "../../runtime/policy/policy.ts";
import { testConnect } from "../../runtime/policy/testing.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startTcpServer } from "../harness/tcp-server.ts";

const module = (isAsync: boolean) => `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { denied: { type: "strings", default: ["127.0.1.9"] } },
  ${isAsync ? "async " : ""}connect({ clientAddress, refuse, serverName }, { denied }) {
    ${isAsync ? "await new Promise((resolve) => setTimeout(resolve, clientAddress === '127.0.1.7' ? 600_000 : 5));" : ""}
    if (clientAddress === "127.0.1.8") throw new Error("no such client");
    if (denied.includes(clientAddress)) return refuse(\`\${clientAddress} is not welcome at \${serverName}\`);
  },
});
`;

const kinds = ["plain", "waiting", "open"] as const;
const ports = new Map<string, number>();
let gateway: Gateway;

beforeAll(async () => {
  const { port: served } = await startTcpServer((socket) => socket.end("hello"));
  for (const kind of kinds) ports.set(kind, await freePort());
  const use = (kind: string) => ({
    use: `./policies/${kind === "plain" ? "plain" : "waiting"}.ts`,
    ...(kind !== "plain" && { timeout: "500ms" }),
    ...(kind === "open" && { failureMode: "failOpen" }),
  });
  const http = { port: await freePort(), listeners: [{ routes: [] }] };
  gateway = await startGateway({
    files: { "policies/plain.ts": module(false), "policies/waiting.ts": module(true) },
    config: {
      binds: [
        http,
        ...kinds.map((kind) => ({
          port: ports.get(kind),
          listeners: [
            {
              protocol: "TCP",
              tcpRoutes: [
                {
                  name: kind,
                  policies: { custom: [use(kind)] },
                  backends: [{ host: `127.0.0.1:${served}` }],
                },
              ],
            },
          ],
        })),
      ],
    },
  });
});

/** Returns what a client at an address receives; rejects if its connection is aborted. */
function received(kind: string, localAddress: string): Promise<string> {
  const socket = connectTcp({ host: "127.0.0.1", port: ports.get(kind) ?? 0, localAddress });
  return text(socket);
}

describe.each(["plain", "waiting"])("a connect hook, %s", (kind) => {
  it("lets connections pass", async () => {
    expect(await received(kind, "127.0.1.5")).toBe("hello");
  });

  it("refuses connections", async () => {
    await expect(received(kind, "127.0.1.9")).rejects.toThrow();
    await expect
      .poll(() => gateway.output)
      .toMatch(new RegExp(`route=${kind} .*127\\.0\\.1\\.9 is not welcome at null.*reason=Custom`));
  });

  it("refuses connections if it fails", async () => {
    await expect(received(kind, "127.0.1.8")).rejects.toThrow();
    await expect.poll(() => gateway.output).toContain(`${kind}: connect: Error: no such client`);
  });
});

it("a connect hook that exceeds its timeout refuses the connection", async () => {
  await expect(received("waiting", "127.0.1.7")).rejects.toThrow();
  await expect.poll(() => gateway.output).toContain("took longer than 500 ms");
});

it("a connect hook that fails lets connections pass if failureMode is failOpen", async () => {
  expect(await received("open", "127.0.1.8")).toBe("hello");
});

it("hooks for requests are refused on routes of connections", () => {
  const custom = [{ use: "./policies/own.ts" }];
  const route = { policies: { custom }, backends: [{ host: "127.0.0.1:1" }] };
  const config = { binds: [{ port: 3000, listeners: [{ protocol: "TCP", tcpRoutes: [route] }] }] };
  const own = `import { definePolicy } from "gwc/policy";\nexport default definePolicy({ request() {} });\n`;
  const host = memoryHost({ "gateway.yaml": JSON.stringify(config), "policies/own.ts": own });
  expect(checkInput(["gateway.yaml"], host, false).findings.map(({ message }) => message)).toEqual([
    'the hook "request" of ./policies/own.ts acts on requests only',
  ]);
});

it("gwc/policy/testing runs the hook", async () => {
  const names = definePolicy({
    options: { names: { type: "strings", required: true } },
    connect({ serverName, refuse }, { names: known }) {
      if (!known.includes(serverName ?? "")) return refuse("unknown name");
    },
  });
  expect(await testConnect(names, { names: ["db"] }, { serverName: "db" })).toBeUndefined();
  expect(await testConnect(names, { names: ["db"] })).toMatchObject({ message: "unknown name" });
});
