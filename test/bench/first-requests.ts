import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { compileFile } from "../harness/compile-file.ts";
import { freePort } from "../harness/free-port.ts";
import { quantile } from "./compare.ts";
import { cpuSeconds, type Pace, start } from "./duel.ts";
import { PacedLoad } from "./paced-load.ts";

/** Maximum milliseconds of 99 % of the first requests. */
export const FIRST_P99 = 5;

/** Figures of the first requests, one value for each start. */
export interface FirstRequests {
  /** Milliseconds of half of them. */
  readonly p50: number[];
  /** Milliseconds of 99 % of them. */
  readonly p99: number[];
  /** CPU relative to as many requests when everything is compiled. */
  readonly cpu: number[];
  readonly laterP99: number[];
}

const REQUESTS = 2_000;
/** Requests per second: few, so that the time shows the work of V8 and no queue. */
const RATE = 500;
/** Requests between both measurements, as fast as they are served. */
const BETWEEN = 20_000;
const FAST = 5_000;
const CONNECTIONS = 16;

/** Starts a gateway several times, and measures its first requests and those after V8 has compiled what they run. */
export async function measureFirstRequests(host: string, pace: Pace): Promise<FirstRequests> {
  const folder = mkdtempSync(join(tmpdir(), "gwc-first-"));
  const found: FirstRequests = { p50: [], p99: [], cpu: [], laterP99: [] };
  try {
    const file = join(folder, "gateway.json");
    const routes = [{ name: "api", backends: [{ host }] }];
    writeFileSync(
      file,
      JSON.stringify({ binds: [{ port: await freePort(), listeners: [{ name: "web", routes }] }] }),
    );
    const { files } = await compileFile(file, { name: "first" });
    writeFiles(join(folder, "out"), files);
    const script = join(folder, "out", "gateway.mjs");
    for (let round = 0; round < pace.rounds; round++) await measureStart(script, found);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return found;
}

async function measureStart(script: string, found: FirstRequests): Promise<void> {
  const environment = { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" };
  const { process: child, port } = await start({ script, environment }, "");
  const requests = ["GET /items/1?q=x HTTP/1.1\r\nHost: api.example.com\r\n\r\n"];
  const load = await PacedLoad.open({ port, isTls: false }, requests, CONNECTIONS);
  const measured = async () => {
    const before = cpuSeconds(child.pid);
    const latencies = await load.send(REQUESTS, RATE);
    return { cpu: cpuSeconds(child.pid) - before, latencies };
  };
  try {
    const first = await measured();
    await load.send(BETWEEN, FAST);
    const later = await measured();
    // Other work of the machine changed the rate.
    if (first.latencies === undefined || later.latencies === undefined) return;
    found.p50.push(quantile(first.latencies, 0.5));
    found.p99.push(quantile(first.latencies, 0.99));
    found.cpu.push(first.cpu / later.cpu);
    found.laterP99.push(quantile(later.latencies, 0.99));
  } finally {
    load.end();
    child.kill("SIGKILL");
  }
}
