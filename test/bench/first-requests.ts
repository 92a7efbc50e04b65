import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantile } from "./compare.ts";
import { type Contender, cpuSeconds, type Pace, start } from "./duel.ts";
import { PacedLoad } from "./paced-load.ts";
import { plainGateway } from "./plain-gateway.ts";

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
    const gateway = await plainGateway(folder, host);
    for (let round = 0; round < pace.rounds; round++) await measureStart(gateway, found);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return found;
}

async function measureStart(gateway: Contender, found: FirstRequests): Promise<void> {
  const { process: child, port } = await start(gateway, "");
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
