import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { routesConfig } from "../harness/routes-gateway.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { nowhere, routesText, startRoutes } from "./routes.ts";

/** Keeps so much of each request for ever. */
const leak = (kept: string) => `import { definePolicy } from "gwc/policy";

const seen: unknown[] = [];

export default definePolicy({
  request() {
    ${kept}
  },
});
`;
const KEEPS_OBJECTS = leak("seen.push(Array.from({ length: 20_000 }, (_, index) => ({ index })));");

const directResponse = { status: 200, body: "served" };
const custom = (use: string, more: object = {}) => ({
  policies: { custom: [{ use, ...more }], directResponse },
  backends: [],
});

/** Makes a process believe that its heap has at most 400 MB of objects that live long. */
const SMALL_HEAP = `
  import v8 from "node:v8";
  import { syncBuiltinESMExports } from "node:module";
  const read = v8.getHeapStatistics;
  v8.getHeapStatistics = () => ({ ...read(), heap_size_limit: 592 * 2 ** 20 });
  syncBuiltinESMExports();
`;

function preload(code: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/** Sends requests until one has another status than 200, at most so many. */
async function statusAfter(url: string, most: number): Promise<number> {
  for (let request = 0; request < most; request++) {
    const { status } = await send(url, "GET");
    if (status !== 200) return status;
  }
  return 200;
}

it("a policy that keeps more and more is no longer called, and other routes are served", async () => {
  const gateway = await startRoutes(
    {
      leak: custom("./policies/leak.ts"),
      open: custom("./policies/leak.ts", { failureMode: "failOpen" }),
      plain: { policies: { directResponse }, backends: [] },
    },
    nowhere,
    { "policies/leak.ts": KEEPS_OBJECTS },
    { NODE_OPTIONS: "--max-old-space-size=160" },
  );
  expect(await statusAfter(`${gateway.url}/leak`, 2_000)).toBe(500);
  await expect
    .poll(() => gateway.output)
    .toMatch(
      /custom policies are not called, because \d+ of \d+ MB of the heap are in use \(first refused: leak\)/,
    );
  await expect.poll(() => gateway.output).toMatch(/MemoryFull: not called, because/);
  expect(await statusAfter(`${gateway.url}/plain`, 500)).toBe(200);
  expect(await statusAfter(`${gateway.url}/open`, 500)).toBe(200);
  expect((await send(`${gateway.url}/leak`, "GET")).status).toBe(500);
});

it("a policy that only makes garbage is always called", async () => {
  // The last 50 are kept: they become old before they are garbage.
  const garbage = leak(
    "seen.push(Array.from({ length: 20_000 }, (_, index) => ({ index }))); if (seen.length > 50) seen.shift();",
  );
  const gateway = await startRoutes(
    { garbage: custom("./policies/garbage.ts") },
    nowhere,
    { "policies/garbage.ts": garbage },
    { NODE_OPTIONS: "--max-old-space-size=240" },
  );
  expect(await statusAfter(`${gateway.url}/garbage`, 300)).toBe(200);
});

it("buffers count, too", async () => {
  const gateway = await startRoutes(
    { leak: custom("./policies/leak.ts") },
    nowhere,
    { "policies/leak.ts": leak("seen.push(new Uint8Array(2 ** 23).fill(1));") },
    { NODE_OPTIONS: preload("process.constrainedMemory = () => 400 * 2 ** 20;") },
  );
  expect(await statusAfter(`${gateway.url}/leak`, 100)).toBe(500);
  await expect.poll(() => gateway.output).toMatch(/\d+ of 400 MB of the memory are in use/);
});

it("a new version of the policy is called again", async () => {
  const port = await freePort();
  const config = { binds: [{ port, listeners: [{ routes: [custom("./policies/leak.ts")] }] }] };
  const folder = temporaryFolder({
    "gateway.yaml": JSON.stringify(config).replace(',"backends":[]', ""),
    "policies/leak.ts": KEEPS_OBJECTS,
  });
  const env = {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
    ADMIN_ADDR: "127.0.0.1:0",
    NODE_OPTIONS: "--max-old-space-size=300",
  };
  const running = new GwcProcess(["run", "-f", path.join(folder, "gateway.yaml")], { env });
  await running.seen(/listening on/);
  const url = `http://127.0.0.1:${port}/`;
  expect(await statusAfter(url, 5_000)).toBe(500);
  writeFileSync(path.join(folder, "policies/leak.ts"), leak("if (seen.length > 0) seen.pop();"));
  await running.seen(/changed: /);
  await expect.poll(async () => (await send(url, "GET")).status, { interval: 500 }).toBe(200);
});

it("a call that allocates without bound ends its thread at most, and is named before", async () => {
  const gateway = await startGateway({
    config: `config: { workerThreads: 2 }\n${routesConfig(
      routesText(
        {
          greedy: custom("./policies/greedy.ts"),
          plain: { policies: { directResponse }, backends: [] },
        },
        nowhere,
      ),
      await freePort(),
    )}`,
    files: {
      "policies/greedy.ts": leak("for (;;) seen[0] = { kept: seen[0], words: [1, 2, 3] };"),
    },
    // --max-old-space-size would hold for threads instead of their limits.
    env: { NODE_OPTIONS: preload(SMALL_HEAP) },
  });
  await send(`${gateway.url}/greedy`, "GET").catch(() => {});
  await expect
    .poll(() => gateway.output)
    .toMatch(/error: custom policy greedy has taken \d+ MB in one call/);
  await expect.poll(() => gateway.output).toContain("error: a thread ran out of memory");
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await send(`${gateway.url}/plain`, "GET")).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
});
