import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A file with one limit, in a store unless that is switched off. */
function fileOf(limit: object, hasStore = true): string {
  const config = hasStore ? { config: { store: { redis: { url: "${REDIS_URL}" } } } } : {};
  const policies = {
    localRateLimit: [{ requests: 10, unit: "Minutes", ...limit }],
    directResponse: { status: 200 },
  };
  const binds = [{ port: 3000, listeners: [{ routes: [{ name: "api", policies }] }] }];
  return JSON.stringify({ name: "shop", ...config, binds });
}

async function diff(before: string, after: string): Promise<string> {
  const cwd = temporaryFolder({ "a.yaml": before, "b.yaml": after });
  return (await gwc(["diff", "a.yaml", "b.yaml"], { cwd })).stdout;
}

async function explained(file: string): Promise<string> {
  const cwd = temporaryFolder({ "gateway.yaml": file });
  return (await gwc(["explain", "route", "api", "-f", "gateway.yaml"], { cwd })).stdout;
}

it.each([
  ["strict to leased", { consistency: "strict" }, {}, "strict -> leased"],
  ["shared to local", {}, { consistency: "local" }, "n replicas admit n times as much"],
  [
    "local to open without the store",
    {},
    { onStoreFailure: "open" },
    "onStoreFailure local -> open",
  ],
  [
    "closed to local without the store",
    { onStoreFailure: "closed" },
    {},
    "onStoreFailure closed -> local",
  ],
])(
  "gwc diff says that a limit opens from %s, and closes the other way",
  async (_, was, is, text) => {
    const opened = await diff(fileOf(was), fileOf(is));
    expect(opened).toMatch(/1 OPENS/);
    expect(opened).toContain(text);
    expect(await diff(fileOf(is), fileOf(was))).toMatch(/1 CLOSES/);
  },
);

it("gwc diff says that limits open if the store is removed", async () => {
  const removed = await diff(fileOf({}), fileOf({}, false));
  expect(removed).toMatch(
    /OPENS .*limit perMinute: counted by each replica instead of all together/,
  );
});

it("gwc explain says where a limit is counted, and how exactly", async () => {
  expect(await explained(fileOf({}))).toContain(
    "limit perMinute: counted in the store by all replicas together (leased: never exceeded, and at most a sixth of what is left is lent to replicas; while it does not respond, each replica counts for itself)",
  );
  expect(await explained(fileOf({ consistency: "strict", onStoreFailure: "closed" }))).toContain(
    "(strict: each request asks the store; while it does not respond, requests get 503)",
  );
  expect(await explained(fileOf({}, false))).toContain("limit perMinute: counted by each replica");
});

it("gwc audit finds a limit that does not count without the store", async () => {
  const cwd = temporaryFolder({ "gateway.yaml": fileOf({ onStoreFailure: "open" }) });
  const { stdout } = await gwc(["audit", "gateway.yaml"], { cwd });
  expect(stdout).toContain("[passes-on-failure]");
  const closed = temporaryFolder({ "gateway.yaml": fileOf({}) });
  const sound = await gwc(["audit", "gateway.yaml"], { cwd: closed });
  expect(sound.stdout).not.toContain("[passes-on-failure]");
});
