import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { isAlive } from "../harness/is-alive.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { openSession, post, toolCall } from "./raw-client.ts";
import { as } from "./subjects.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));
const targets = [{ name: "child", stdio: { cmd: process.execPath, args: [script] } }];

type Headers = Readonly<Record<string, string>>;

async function startChildren(sessions: object): Promise<Gateway> {
  return startMcpGateway([{ name: "mcp", targets, sessions, hasSubjects: true }]);
}

async function use(gateway: Gateway, session: Headers): Promise<number> {
  return (await post(gateway.url, toolCall("args"), session)).status;
}

/** A caller's sessions, each with the headers of its requests. */
async function openMany(gateway: Gateway, count: number, headers: Headers): Promise<Headers[]> {
  const sessions: Headers[] = [];
  for (let each = 0; each < count; each++) {
    sessions.push({ ...headers, ...(await openSession(gateway.url, headers)) });
  }
  return sessions;
}

it("a caller that opens many sessions ends only its own", async () => {
  const gateway = await startChildren({ max: 4 });
  const [bobs = {}] = await openMany(gateway, 1, as("bob"));
  // A client without a token is identified by its address.
  const [strangers = {}] = await openMany(gateway, 1, {});
  const alices = await openMany(gateway, 6, as("alice"));
  expect(await use(gateway, bobs)).toBe(200);
  expect(await use(gateway, strangers)).toBe(200);
  const statuses = await Promise.all(alices.map((session) => use(gateway, session)));
  // One caller gets half of all.
  expect(statuses).toEqual([404, 404, 404, 404, 200, 200]);
});

it("the caller with the most sessions makes room for others", async () => {
  const gateway = await startChildren({ max: 3, maxPerCaller: 3 });
  const alices = await openMany(gateway, 3, as("alice"));
  const bobs = await openMany(gateway, 3, as("bob"));
  const statuses = await Promise.all([...alices, ...bobs].map((each) => use(gateway, each)));
  // Bob's second session displaces one of alice, who then has one; his third displaces his own.
  expect(statuses).toEqual([404, 404, 200, 404, 200, 200]);
});

it("a session ends after the configured idle time", async () => {
  const gateway = await startChildren({ idleTimeout: "1s" });
  const [session = {}] = await openMany(gateway, 1, {});
  const [, child = ""] = await gateway.seen(/: child (\d+)/);
  await eventually(() => !isAlive(Number(child)) || null, "the end of the child");
  expect(await use(gateway, session)).toBe(404);
});
