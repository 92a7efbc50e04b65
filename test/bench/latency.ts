import { spawn } from "node:child_process";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { freePort } from "../harness/free-port.ts";
import { benchFile, COMPILED } from "./bench.ts";
import { median } from "./compare.ts";
import { measure, type Pace, type Started, start } from "./duel.ts";
import type { OpenLoad } from "./open-loop.ts";
import { plainGateway } from "./plain-gateway.ts";

/** Shares of what the gateway serves as fast as clients can ask. */
const SHARES = [0.1, 0.5, 0.8];

/** Maximum time of 99 % of the requests at half of the capacity, relative to nginx. */
export const latencyGoals: Readonly<Record<number, number>> = { 0.5: 1.5 };

/** Seconds of a round. */
const SECONDS = 3;
const REQUEST = "GET /static HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: load\r\n\r\n";
/** Requests by which the capacity is measured, and number of measurements. */
const CAPACITY_REQUESTS = 20_000;
const CAPACITY_ROUNDS = 3;

/** Latencies at a rate, one value for each round; times in milliseconds. */
export interface RateLatencies {
  readonly share: number;
  /** Requests per second. */
  readonly rate: number;
  readonly nginx: readonly OpenLoad[];
  readonly gateway: readonly OpenLoad[];
  /** Pauses of the gateway for garbage, by round. */
  readonly pauses: readonly (readonly number[])[];
}

/**
 * Measures how long requests take at fixed rates, in turns with nginx at the same rates. nginx is also the upstream, so that most
 * of the machine is left for the clients.
 */
export async function measureLatencies(
  folder: string,
  pace: Pace,
): Promise<readonly RateLatencies[]> {
  const upstream = await startNginx("http://127.0.0.1:9");
  const host = `127.0.0.1:${upstream.port}`;
  const nginx = await startNginx(`http://${host}`);
  const plain = await plainGateway(folder, host);
  const gateway = await start({ ...plain, flags: ["--trace-gc"] }, "");
  try {
    const pauses = pausesOf(gateway);
    for (const each of [nginx, gateway])
      await measure(each, [REQUEST], { ...pace, requests: COMPILED });
    const capacity = await capacityOf(gateway, pace);
    const measured: RateLatencies[] = [];
    for (const share of SHARES)
      measured.push(
        await measureRate(share, Math.round(share * capacity), { nginx, gateway, pauses, pace }),
      );
    return measured;
  } finally {
    for (const each of [gateway, nginx, upstream]) each.process.kill("SIGKILL");
  }
}

/** Processes of a measurement. */
interface Rig {
  readonly nginx: Started;
  readonly gateway: Started;
  /** Pauses of the gateway so far, which are removed. */
  readonly pauses: number[];
  readonly pace: Pace;
}

async function measureRate(share: number, rate: number, rig: Rig): Promise<RateLatencies> {
  const nginx: OpenLoad[] = [];
  const gateway: OpenLoad[] = [];
  const pauses: (readonly number[])[] = [];
  for (let round = 0; round < rig.pace.rounds; round++) {
    nginx.push(await load(rig.nginx, rate, rig.pace));
    rig.pauses.length = 0;
    gateway.push(await load(rig.gateway, rate, rig.pace));
    pauses.push([...rig.pauses]);
  }
  return { share, rate, nginx, gateway, pauses };
}

/** Returns the requests per second of as many clients as fill the machine: they share its processors with the gateway. */
async function capacityOf(gateway: Started, pace: Pace): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < CAPACITY_ROUNDS; round++) {
    const { perSecond } = await measure(gateway, [REQUEST], {
      ...pace,
      requests: CAPACITY_REQUESTS,
    });
    found.push(perSecond);
  }
  return median(found);
}

async function load({ port }: Started, rate: number, { connections }: Pace): Promise<OpenLoad> {
  const settings = [port, rate, SECONDS, connections].map(String);
  const child = spawn(process.execPath, [benchFile("open-loop.ts"), ...settings], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(REQUEST);
  const ended = once(child, "exit");
  const found = (await json(child.stdout)) as OpenLoad;
  await ended;
  if (found.failures > 0) throw new Error(`${found.failures} requests failed`);
  return found;
}

async function startNginx(upstream: string): Promise<Started> {
  const environment = { PORT: String(await freePort()) };
  return start({ script: benchFile("nginx-proxy.ts"), environment }, upstream);
}

/** A line of `--trace-gc`: the time of the pause is before the slash. */
const PAUSE = / ms: (?:Scavenge|Mark-Compact).*?, ([\d.]+) \/ [\d.]+ ms/g;

/** Collects the pauses that a process prints from now on, in milliseconds. */
function pausesOf({ process: { stdout } }: Started): number[] {
  const pauses: number[] = [];
  let rest = "";
  stdout?.on("data", (chunk: Buffer) => {
    const lines = rest + chunk.toString("latin1");
    const end = lines.lastIndexOf("\n") + 1;
    rest = lines.slice(end);
    for (const [, pause] of lines.slice(0, end).matchAll(PAUSE)) pauses.push(Number(pause));
  });
  return pauses;
}
