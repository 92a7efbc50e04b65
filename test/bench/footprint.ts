import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { type Case, compare } from "./compare.ts";
import { type Contender, cpuSeconds, measure, type Pace, type Started, start } from "./duel.ts";

/** Maximum start time and memory relative to a hello-world server, KB of a held stream, and MB with a thousand tokens. */
export const footprintGoals = { start: 1.3, memory: 1.25, stream: 18, tokens: 120 } as const;

/** Maximum CPU of a request in two threads, relative to one. */
export const TWO_THREADS = 1.05;

/** Start and memory of a gateway: one value for each round. */
export interface Footprint {
  /** Times of a start until the port is open relative to a hello-world server, by the clock and by the CPU. */
  readonly start: readonly number[];
  readonly startCpu: readonly number[];
  /** Resident memory after the first request, relative to it. */
  readonly memory: readonly number[];
  /** Milliseconds from the start of the process until the port of the gateway is open. */
  readonly milliseconds: readonly number[];
  /** Bytes of resident memory of the gateway after the first request. */
  readonly resident: readonly number[];
  /** KB of resident memory for each stream of events that is open. */
  readonly stream: readonly number[];
}

/** Memory of a process when it is ready, and after its first request. */
interface StartFigures {
  readonly milliseconds: number;
  readonly cpu: number;
  readonly memory: number;
}

/** Streams that are held at a time: enough to be visible in the memory of the process. */
const STREAMS = 2_000;
const STREAM_ROUNDS = 3;
const TOKEN_ROUNDS = 3;

/** Requests after which V8 has compiled what streams run: its code would count as their memory. */
const WARM_UP = 20_000;

/** Starts both in turns (A B A B); `gateway` forwards to an upstream that has `/held`. */
export async function measureFootprint(
  gateway: Contender,
  hello: Contender,
  rounds: number,
): Promise<Footprint> {
  const ours: StartFigures[] = [];
  const theirs: StartFigures[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await measureStart(gateway));
    theirs.push(await measureStart(hello));
  }
  const times = (figure: keyof StartFigures) =>
    ours.map((each, round) => each[figure] / (theirs[round]?.[figure] ?? 1));
  const stream: number[] = [];
  for (let round = 0; round < STREAM_ROUNDS; round++) stream.push(await measureStreams(gateway));
  return {
    start: times("milliseconds"),
    startCpu: times("cpu"),
    memory: times("memory"),
    milliseconds: ours.map((each) => each.milliseconds),
    resident: ours.map((each) => each.memory),
    stream,
  };
}

/** The CPU of a request in two threads relative to one, round by round. */
export interface ThreadCosts {
  readonly gateway: readonly number[];
  /** The same for a pipe of Node.js that parses nothing. */
  readonly pipe: readonly number[];
}

/**
 * Measures what a request costs in two threads. The load needs no cores of its own, because only the CPU of the gateway
 * counts.
 */
export async function measureThreads(host: string, pace: Pace): Promise<ThreadCosts> {
  const requests = [requestLines("/items/1?q=x", "User-Agent: load")];
  const gateway = (threads: number): Case => ({
    name: `gateway, ${threads}`,
    routes: [{ name: "api", backends: [{ host }] }],
    requests,
    file: { config: { workerThreads: threads } },
  });
  const pipe = (threads: number): Case => ({
    name: `pipe, ${threads}`,
    routes: [],
    requests,
    script: join(import.meta.dirname, "pipe-proxy.ts"),
    environment: { THREADS: String(threads) },
  });
  const cases = [gateway(1), gateway(2), pipe(1), pipe(2)];
  const costs = await compare(cases, `http://${host}`, { ...pace, requests: 30_000 });
  const [, two, one, other] = costs.map(({ ratios }) => ratios);
  const relative = other?.map((ratio, round) => ratio / (one?.[round] ?? 1));
  return { gateway: two ?? [], pipe: relative ?? [] };
}

/** Returns bytes of resident memory after requests of a thousand users, one value for each start. */
export async function measureTokens(
  gateway: Contender,
  tokens: readonly string[],
): Promise<readonly number[]> {
  const requests = tokens.map((token) =>
    requestLines("/items/1", `Authorization: Bearer ${token}`),
  );
  const resident: number[] = [];
  for (let round = 0; round < TOKEN_ROUNDS; round++) {
    const started = await start(gateway, "");
    const pace = { rounds: 1, seconds: 1, requests: WARM_UP, connections: 64 };
    await measure(started, requests, pace);
    resident.push(residentBytes(started.process));
    await end(started);
  }
  return resident;
}

async function measureStart(contender: Contender): Promise<StartFigures> {
  const before = performance.now();
  const started = await start(contender, "");
  const milliseconds = performance.now() - before;
  const cpu = cpuSeconds(started.process.pid);
  (await ask(started, "/items/1")).destroy();
  const memory = residentBytes(started.process);
  await end(started);
  return { milliseconds, cpu, memory };
}

async function measureStreams(gateway: Contender): Promise<number> {
  const started = await start(gateway, "");
  const sockets: Socket[] = [];
  try {
    const small = [requestLines("/items/1")];
    await measure(started, small, { rounds: 1, seconds: 1, requests: WARM_UP, connections: 64 });
    // Memory that the first streams allocate serves all of them.
    for (let i = 0; i < STREAMS / 4; i++) sockets.push(await ask(started, "/held"));
    const before = residentBytes(started.process);
    for (let i = 0; i < STREAMS; i++) sockets.push(await ask(started, "/held"));
    return (residentBytes(started.process) - before) / STREAMS / 1000;
  } finally {
    for (const socket of sockets) socket.destroy();
    await end(started);
  }
}

function requestLines(target: string, ...headers: readonly string[]): string {
  const lines = [`GET ${target} HTTP/1.1`, "Host: api.example.com", ...headers];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** The connection, when the first bytes of the response are there. */
async function ask({ port }: Started, target: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.write(requestLines(target));
  await once(socket, "data");
  return socket;
}

async function end({ process: child }: Started): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Returns bytes of resident memory. */
export function residentBytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
