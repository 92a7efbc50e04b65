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

/** Admits clients whose bytes begin with a word. */
const first = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  async connect({ firstBytes, refuse }) {
    const [begin, whole] = await Promise.all([firstBytes(2), firstBytes(5)]);
    const texts = [begin, whole].map((each) => new TextDecoder().decode(each));
    if (texts.join() !== "he,hello") return refuse(\`\${texts} is no greeting\`);
  },
});
`;

const kinds = ["plain", "waiting", "open"] as const;
const ports = new Map<string, number>();
let gateway: Gateway;

beforeAll(async () => {
  const { port: served } = await startTcpServer((socket) => socket.end("hello"));
  const { port: echo } = await startTcpServer((socket) => socket.pipe(socket));
  ports.set("first", await freePort());
  for (const kind of kinds) ports.set(kind, await freePort());
  const use = (kind: string) => ({
    use: `./policies/${kind === "plain" ? "plain" : "waiting"}.ts`,
    ...(kind !== "plain" && { timeout: "3s" }),
    ...(kind === "open" && { failureMode: "failOpen" }),
  });
  const http = { port: await freePort(), listeners: [{ routes: [] }] };
  gateway = await startGateway({
    files: {
      "policies/plain.ts": module(false),
      "policies/waiting.ts": module(true),
      "policies/first.ts": first,
    },
    config: {
      binds: [
        http,
        {
          port: ports.get("first"),
          listeners: [
            {
              protocol: "TCP",
              tcpRoutes: [
                {
                  name: "first",
                  policies: { custom: [{ use: "./policies/first.ts", timeout: "3s" }] },
                  backends: [{ host: `127.0.0.1:${echo}` }],
                },
              ],
            },
          ],
        },
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
  await expect.poll(() => gateway.output).toContain("took longer than 3000 ms");
});

it("a connect hook that fails lets connections pass if failureMode is failOpen", async () => {
  expect(await received("open", "127.0.1.8")).toBe("hello");
});

describe("a connect hook that reads the first bytes", () => {
  /** Sends pieces, the last one with the end, and returns what comes back; rejects if the connection is aborted. */
  async function echoed(...pieces: readonly string[]): Promise<string> {
    const socket = connectTcp({ host: "127.0.0.1", port: ports.get("first") ?? 0, noDelay: true });
    const received = text(socket);
    // The connection may be aborted before all is sent.
    received.catch(() => {});
    for (const piece of pieces)
      await new Promise((resolve) => socket.write(piece, () => setTimeout(resolve, 5)));
    socket.end();
    return received;
  }

  it.each([[["hello, you"]], [["h", "el", "lo, ", "you"]], [["hello"]]])(
    "forwards them and all others: %j",
    async (pieces) => {
      expect(await echoed(...pieces)).toBe(pieces.join(""));
    },
  );

  it.each([["other bytes"], ["hel"], ["h"]])(
    "refuses clients that send others: %s",
    async (bytes) => {
      await expect(echoed(bytes)).rejects.toThrow();
      await expect.poll(() => gateway.output).toContain(`${bytes.slice(0, 5)} is no greeting`);
    },
  );

  it("refuses a client that sends nothing", async () => {
    const from = gateway.output.length;
    const socket = connectTcp({ host: "127.0.0.1", port: ports.get("first") ?? 0 });
    await expect(text(socket)).rejects.toThrow();
    await expect.poll(() => gateway.output.slice(from)).toContain("took longer than 3000 ms");
  });
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
    async connect({ serverName, refuse, firstBytes }, { names: known }) {
      if ((await firstBytes(1))[0] === 0) return refuse("a zero");
      if (!known.includes(serverName ?? "")) return refuse("unknown name");
    },
  });
  expect(await testConnect(names, { names: ["db"] }, { serverName: "db" })).toBeUndefined();
  expect(await testConnect(names, { names: ["db"] })).toMatchObject({ message: "unknown name" });
  expect(await testConnect(names, {}, { bytes: new Uint8Array(2) })).toMatchObject({
    message: "a zero",
  });
});
