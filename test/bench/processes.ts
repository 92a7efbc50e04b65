import { freePort } from "../harness/free-port.ts";
import { benchFile, COMPILED } from "./bench.ts";
import { measure, type Pace, type Started, start } from "./duel.ts";
import { residentBytes } from "./footprint.ts";
import { plainGateway } from "./plain-gateway.ts";

/** Number of processes, and of threads that they are compared with. */
const COUNT = 4;

/** Requests of a round. */
const REQUESTS = 20_000;
const REQUEST = "GET /items/1?q=x HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: load\r\n\r\n";

/** CPU of a request relative to one process, round by round, and bytes of memory after all rounds. */
export interface ProcessCosts {
  readonly processes: readonly number[];
  readonly threads: readonly number[];
  readonly memory: { readonly one: number; readonly processes: number; readonly threads: number };
}

/**
 * Measures what a request costs in four processes behind one port, and in four threads of one process. A pipe in front of them
 * distributes connections in turns, as a load balancer does. Its CPU does not count.
 */
export async function measureProcesses(
  folder: string,
  host: string,
  pace: Pace,
): Promise<ProcessCosts> {
  const started: Started[] = [];
  const open = async (count: number, config: object): Promise<Started> => {
    const gateways: Started[] = [];
    for (let at = 0; at < count; at++) {
      const gateway = await start(await plainGateway(folder, host, config), "");
      gateways.push(gateway);
      started.push(gateway);
    }
    const balancer = await startBalancer(gateways.map(({ port }) => port));
    started.push(balancer);
    return { ...balancer, counted: gateways.map(({ process }) => process) };
  };
  try {
    const one = await open(1, {});
    const processes = await open(COUNT, {});
    const threads = await open(1, { workerThreads: COUNT });
    const ask = async (group: Started, requests: number) =>
      (await measure(group, [REQUEST], { ...pace, requests })).perCpuSecond;
    await ask(one, COMPILED);
    for (const each of [processes, threads]) await ask(each, COUNT * COMPILED);
    const found = { processes: [] as number[], threads: [] as number[] };
    for (let round = 0; round < pace.rounds; round++) {
      const base = await ask(one, REQUESTS);
      found.processes.push(base / (await ask(processes, REQUESTS)));
      found.threads.push(base / (await ask(threads, REQUESTS)));
    }
    const memory = {
      one: memoryOf(one),
      processes: memoryOf(processes),
      threads: memoryOf(threads),
    };
    return { ...found, memory };
  } finally {
    for (const { process } of started) process.kill("SIGKILL");
  }
}

async function startBalancer(ports: readonly number[]): Promise<Started> {
  const environment = { PORT: String(await freePort()) };
  const upstreams = ports.map((port) => `http://127.0.0.1:${port}`);
  return start({ script: benchFile("pipe-proxy.ts"), environment }, upstreams.join(" "));
}

function memoryOf({ counted = [] }: Started): number {
  return counted.reduce((sum, process) => sum + residentBytes(process), 0);
}
