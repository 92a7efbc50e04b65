import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Counts calls of functions in the gateway's process. At SIGUSR2, writes where those called since the last time begin. */
const COUNTER = `
import { Session } from "node:inspector/promises";
import { renameSync, writeFileSync } from "node:fs";
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
process.on("SIGUSR2", async () => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const called = result
    .filter(({ url }) => url.endsWith("/gateway.mjs"))
    .flatMap(({ functions }) => functions)
    .filter(({ ranges }) => ranges[0].count > 0)
    .map(({ ranges }) => ranges[0].startOffset);
  writeFileSync("called.tmp", JSON.stringify(called));
  renameSync("called.tmp", "called.json");
});
`;

/**
 * Counted from an accepted connection to the written log line, with the connection to the upstream: each runtime module with a
 * function that was called, by the module's comment in the bundle.
 */
it("the first GET without policies passes at most 40 modules of the runtime", async () => {
  const folder = temporaryFolder();
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream }] }] }],
    folder,
    env: {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COUNTER).replaceAll("'", "%27")}`,
    },
  });
  const bundle = readFileSync(path.join(folder, "gateway.mjs"), "utf8");
  const modules = Array.from(bundle.matchAll(/^\/\/ (\S+)\.ts$/gm), ({ index, 1: name = "" }) => ({
    index,
    name,
  }));
  const file = path.join(folder, "called.json");
  const called = async (): Promise<ReadonlySet<string>> => {
    process.kill(gateway.pid, "SIGUSR2");
    await eventually(() => existsSync(file) || null, "the called functions");
    const offsets: readonly number[] = JSON.parse(readFileSync(file, "utf8"));
    rmSync(file);
    return new Set(
      offsets.map((offset) => modules.findLast(({ index }) => index <= offset)?.name ?? ""),
    );
  };
  await called();
  expect(await (await fetch(gateway.url)).text()).toBe("ok");
  await gateway.seen(/http\.status=200/);
  const passed = [...(await called())].filter((name) => name.startsWith("runtime/")).toSorted();
  expect(passed).toContain("runtime/backends/host");
  expect(passed).toContain("runtime/telemetry/logs/access-log");
  expect(passed.length, passed.join("\n")).toBeLessThanOrEqual(40);
});
