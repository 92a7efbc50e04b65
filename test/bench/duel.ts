import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Two proxies that do the same work, and the request both get. */
export interface Duel {
  readonly name: string;
  /** The request, ready for the wire; the response must be a 200 with Content-Length. */
  readonly request: string;
  /** Script and environment of each; a script prints `listening on ADDRESS:PORT`. */
  readonly gateway: Contender;
  readonly handwritten: Contender;
}

export interface Contender {
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Flags of Node.js. */
  readonly flags?: readonly string[];
}

export interface Pace {
  readonly rounds: number;
  /** Seconds of one measurement. */
  readonly seconds: number;
  /** Requests of one measurement, instead of its time. */
  readonly requests?: number;
  /** Requests before the first one; absent: three times as many as in one. */
  readonly warmUp?: number;
  readonly connections: number;
  /** Over TLS, with any certificate; absent: plain TCP. */
  readonly isTls?: boolean;
}

/** Requests per CPU-second of the gateway, of the hand-written proxy, and their ratio, round by round. */
export interface Round {
  readonly gateway: Figure;
  readonly handwritten: Figure;
  readonly ratio: number;
}

export interface Figure {
  readonly perCpuSecond: number;
  /** Requests per second by the clock. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Measures both in turns (A B A B): the machine's mood meets them alike. */
export async function run(duel: Duel, upstream: string, pace: Pace): Promise<readonly Round[]> {
  const gateway = await start(duel.gateway, upstream);
  const handwritten = await start(duel.handwritten, upstream);
  try {
    // Compiled code is what is compared: the first seconds do not count.
    const warmUp = { ...pace, seconds: 3 };
    await measure(gateway, [duel.request], warmUp);
    await measure(handwritten, [duel.request], warmUp);
    const rounds: Round[] = [];
    for (let i = 0; i < pace.rounds; i++) {
      const ours = await measure(gateway, [duel.request], pace);
      const theirs = await measure(handwritten, [duel.request], pace);
      const ratio = ours.perCpuSecond / theirs.perCpuSecond;
      rounds.push({ gateway: ours, handwritten: theirs, ratio });
    }
    return rounds;
  } finally {
    gateway.process.kill();
    handwritten.process.kill();
  }
}

export interface Started {
  readonly process: ChildProcess;
  /** Processes whose CPU counts; absent: this one. */
  readonly counted?: readonly ChildProcess[];
  readonly port: number;
}

/** Starts a script and waits until it says where it listens. */
export function start(contender: Contender, upstream: string): Promise<Started> {
  const child = spawn(
    process.execPath,
    [...nodeFlags(), ...(contender.flags ?? []), contender.script],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...contender.environment, UPSTREAM: upstream },
    },
  );
  return new Promise((resolve, reject) => {
    let text = "";
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      const port = /listening on [\d.]+:(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      child.stdout.off("data", look);
      child.stdout.resume();
      resolve({ process: child, port: Number(port) });
    };
    child.stdout.on("data", look);
    child.on("exit", (code) => reject(new Error(`${contender.script} ended with ${code}`)));
  });
}

/** Flags for the proxies, to profile them: `BENCH_NODE_FLAGS=--cpu-prof`. */
function nodeFlags(): readonly string[] {
  const flags = process.env.BENCH_NODE_FLAGS;
  return flags === undefined || flags === "" ? [] : flags.split(" ");
}

/** Requests per CPU-second of a proxy under load; the requests are sent in turns. */
export async function measure(
  proxy: Started,
  requests: readonly string[],
  pace: Pace,
): Promise<Figure> {
  const { process: own, counted = [own] } = proxy;
  const cpu = () => counted.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const before = cpu();
  const load = await runLoad(proxy.port, requests, pace);
  const used = cpu() - before;
  if (load.failures > 0 || load.responses === 0) {
    throw new Error(`${load.failures} failures, ${load.responses} responses`);
  }
  const { responses, perSecond, p50, p99 } = load;
  return { perCpuSecond: responses / used, perSecond, p50, p99 };
}

/** Time of a process on a CPU so far: that of its threads, in nanoseconds (Documentation/scheduler/sched-stats). */
export function cpuSeconds(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e9;
}

interface Load {
  readonly responses: number;
  readonly perSecond: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
}

function runLoad(port: number, requests: readonly string[], pace: Pace): Promise<Load> {
  const script = fileURLToPath(new URL("load.ts", import.meta.url));
  const length = pace.requests === undefined ? pace.seconds : `${pace.requests}x`;
  const settings = [port, length, pace.connections, pace.isTls === true ? "tls" : []];
  const child = spawn(process.execPath, [script, ...settings.flat().map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(requests));
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on("exit", (code) => {
      if (code === 0) resolve(JSON.parse(text));
      else reject(new Error(`the load generator ended with ${code}`));
    });
  });
}
