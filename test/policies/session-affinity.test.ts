import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { namedAddresses, startOnOnePort } from "../harness/same-port-servers.ts";
import { send } from "../harness/send.ts";
import { nowhere, startRoutes } from "./routes.ts";

const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"];
const [LEFT = "", ...STAYED] = ADDRESSES;

let gateway: Gateway;

beforeAll(async () => {
  const { port } = await startOnOnePort(ADDRESSES, (address) => (_, response) => {
    response.end(address);
  });
  const route = (source: string, host = "all.test") => ({
    policies: { sessionAffinity: { source } },
    backends: [{ host: `${host}:${port}` }],
  });
  const hosts = (addresses: readonly string[]) => ({
    policies: { sessionAffinity: { source: 'request.headers["x-user"]' } },
    backends: addresses.map((address) => ({ host: `${address}:${port}` })),
  });
  gateway = await startRoutes(
    {
      five: route('request.headers["x-user"]'),
      four: { ...route('request.headers["x-user"]', "four.test") },
      hosts: hosts(ADDRESSES),
      others: hosts(STAYED),
      cookie: route('request.headers["cookie"].cookie("id")'),
      source: route("source.address"),
    },
    nowhere,
    {},
    namedAddresses({ "all.test": ADDRESSES, "four.test": STAYED }),
  );
});

async function serverOf(path: string, headers: Record<string, string>): Promise<string> {
  return (await send(`${gateway.url}/${path}`, "GET", headers)).body;
}

describe("sessionAffinity", () => {
  it.each([
    ["a header", "five", (id: string) => ({ "x-user": id })],
    ["a cookie", "cookie", (id: string) => ({ cookie: `a=b; id=${id}` })],
  ] as const)("sends what has the same %s to the same server", async (_, path, headers) => {
    const met = new Set<string>();
    for (let user = 0; user < 40; user += 1) {
      const found = new Set<string>();
      for (let i = 0; i < 3; i += 1) found.add(await serverOf(path, headers(`user-${user}`)));
      expect(found.size).toBe(1);
      for (const each of found) met.add(each);
    }
    expect(met).toEqual(new Set(ADDRESSES));
  });

  it("sends a client's address to one server", async () => {
    const found = new Set<string>();
    for (let i = 0; i < 12; i += 1) found.add(await serverOf("source", {}));
    expect(found.size).toBe(1);
  });

  it("sends requests without a value to any server", async () => {
    const found = new Set<string>();
    for (let i = 0; i < 60; i += 1) found.add(await serverOf("five", {}));
    expect(found).toEqual(new Set(ADDRESSES));
  });

  it("moves only the share of a server that is removed", async () => {
    let moved = 0;
    for (let user = 0; user < 200; user += 1) {
      const headers = { "x-user": `user-${user}` };
      const [before, after] = [await serverOf("hosts", headers), await serverOf("others", headers)];
      if (before === LEFT) moved += 1;
      else expect(after).toBe(before);
    }
    // 40 of 200 are expected; by chance six standard deviations more or less.
    expect(moved).toBeGreaterThan(5);
    expect(moved).toBeLessThan(75);
  });
});
