import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { openSession, post } from "./raw-client.ts";
import { mcpResponses, startUpstream } from "./raw-upstream.ts";

const [OLD, NEW] = ["0a".repeat(32), "f5".repeat(32)];
const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
/** Replicas by their value of SESSION_KEY, in the order of a rotation. */
let replicas: Readonly<Record<"old" | "accepting" | "rotated" | "renewed", Gateway>>;

beforeAll(async () => {
  const { url } = await startUpstream(mcpResponses({ ping: "{}" }));
  const targets = ["one", "two"].map((name) => ({ name, mcp: { host: url } }));
  const start = (SESSION_KEY: string, file = {}) =>
    startMcpGateway([{ name: "mcp", targets }], { SESSION_KEY }, { file });
  const [old, accepting, rotated, renewed] = await Promise.all([
    start(OLD),
    start(`${OLD},${NEW}`),
    // Threads get all keys, too.
    start(`${NEW},${OLD}`, { config: { workerThreads: 2 } }),
    start(NEW),
  ]);
  replicas = { old, accepting, rotated, renewed };
});

it.each([
  ["old", "accepting", 200],
  ["accepting", "old", 200],
  ["accepting", "rotated", 200],
  ["rotated", "accepting", 200],
  ["rotated", "renewed", 200],
  ["renewed", "rotated", 200],
  ["old", "rotated", 200],
  ["rotated", "old", 404],
  ["old", "renewed", 404],
] as const)(
  "a session of a replica with the %s key at one with the %s key gets %i",
  async (...of) => {
    const [from, to, status] = of;
    const session = await openSession(replicas[from].url);
    expect((await post(replicas[to].url, ping, session)).status).toBe(status);
  },
);
