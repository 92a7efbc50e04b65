import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { compileFile } from "../harness/compile-file.ts";
import { freePort } from "../harness/free-port.ts";
import { cpuSeconds, type Figure, measure, type Pace, type Started, start } from "./duel.ts";
import { PacedLoad } from "./paced-load.ts";

/** A gateway that is compared with others, and what it is asked. */
export interface Case {
  readonly name: string;
  /** The routes of its only listener, as a file has them. */
  readonly routes: readonly object[];
  /** Sections of the file in addition to its binds. */
  readonly file?: object;
  /** Ready for the wire; sent in turns. Some need what their gateway gives at this port. */
  readonly requests: readonly string[] | ((port: number) => Promise<readonly string[]>);
  /** The gateway of another case serves these requests too. */
  readonly gateway?: string;
  /** Another product in its place, in a script that is given a port; the routes do not count. */
  readonly script?: string;
  /** Further variables of the script. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of another version of this project that builds it; absent: this one. */
  readonly checkout?: string;
  /** Requests before the first one that counts; absent: as many as the pace says. */
  readonly warmUp?: number;
  /** Folder of the file; absent: one of its own. */
  readonly folder?: string;
  /** The listener's certificate and key; absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Cost of a case compared with the first one. */
export interface Cost {
  readonly name: string;
  /** Requests per CPU-second. */
  readonly perCpuSecond: number;
  /** How many times the CPU of the first case a request takes: the median of the rounds, and the rounds. */
  readonly ratio: number;
  readonly ratios: readonly number[];
  /** How many times as long as in the first case half of the requests take at most, round by round. */
  readonly p50s: readonly number[];
  /** The same: median of the rounds. */
  readonly p50: number;
}

/** Requests of one measurement unless the pace sets a number, independent of the machine's load. */
const REQUESTS = 3_000;

/** Requests at a fixed rate for all cases. */
interface SteadyPace extends Pace {
  /** Requests per second: few enough for the slowest case. */
  readonly rate: number;
}

/**
 * Builds every case, starts them all and loads them in turns (A B C A B C), so that the machine's load affects them
 * alike. The result is the ratios within a round. At a steady pace each case begins a round as often as the others.
 */
export async function compare(
  cases: readonly Case[],
  upstream: string,
  pace: Pace | SteadyPace,
): Promise<readonly Cost[]> {
  const count = pace.requests ?? REQUESTS;
  const loads = new Map<Case, PacedLoad>();
  const folder = mkdtempSync(join(tmpdir(), "gwc-compare-"));
  const gateways = new Map<string, Started>();
  try {
    for (const each of cases) {
      if (each.gateway !== undefined) continue;
      gateways.set(each.name, await startCase(each, join(folder, String(gateways.size)), upstream));
    }
    const made = new Map<Case, readonly string[]>();
    const find = async (asked: Case) => {
      const started = gateways.get(asked.gateway ?? asked.name);
      if (started === undefined) throw new Error(`there is no gateway "${asked.gateway}"`);
      const given = made.get(asked) ?? asked.requests;
      const requests = typeof given === "function" ? await given(started.port) : given;
      made.set(asked, requests);
      return { started, requests, isTls: asked.tls !== undefined };
    };
    const ask = async (asked: Case, count: number) => {
      const { started, requests, isTls } = await find(asked);
      return measure(started, requests, { ...pace, requests: count, isTls });
    };
    // Compiled code is what is compared: the first requests do not count.
    for (const each of cases) await ask(each, each.warmUp ?? pace.warmUp ?? 3 * count);
    const askSteadily = async (asked: Case, rate: number) => {
      const { started, requests, isTls } = await find(asked);
      const { port } = started;
      const load =
        loads.get(asked) ?? (await PacedLoad.open({ port, isTls }, requests, pace.connections));
      loads.set(asked, load);
      return measureSteadily(started, load, count, rate);
    };
    const rounds: Figure[][] = [];
    for (let round = 0; round < pace.rounds; round++) {
      const figures: Figure[] = [];
      for (let turn = 0; turn < cases.length; turn++) {
        const at = "rate" in pace ? (round + turn) % cases.length : turn;
        const asked = cases[at];
        if (asked === undefined) continue;
        figures[at] = await ("rate" in pace ? askSteadily(asked, pace.rate) : ask(asked, count));
      }
      rounds.push(figures);
    }
    return cases.map(({ name }, index) => costOf(name, index, rounds));
  } finally {
    for (const load of loads.values()) load.end();
    for (const { process } of gateways.values()) process.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

/** How often a rate is tried that is not kept. */
const TRIES = 20;

/** The CPU of so many requests at a rate. */
async function measureSteadily(
  { process: { pid } }: Started,
  load: PacedLoad,
  count: number,
  rate: number,
): Promise<Figure> {
  for (let tried = 0; tried < TRIES; tried++) {
    const before = cpuSeconds(pid);
    const latencies = await load.send(count, rate);
    const used = cpuSeconds(pid) - before;
    if (latencies === undefined) continue;
    const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
    return { perCpuSecond: count / used, perSecond: rate, p50: at(0.5), p99: at(0.99) };
  }
  throw new Error(`${rate} requests per second are too many for this machine`);
}

/** The costs as a table. */
export function formatCosts(costs: readonly Cost[]): string {
  const [base] = costs;
  const micros = ({ perCpuSecond }: Cost) => 1e6 / perCpuSecond;
  const width = Math.max(...costs.map(({ name }) => name.length));
  const lines = costs.map((cost) => {
    const added = base === undefined ? 0 : micros(base) * (cost.ratio - 1);
    return [
      cost.name.padEnd(width),
      `${cost.ratio.toFixed(3)} x`.padStart(9),
      `${added < 0 ? "" : "+"}${added.toFixed(1)} us`.padStart(10),
      `  ${Math.round(cost.perCpuSecond)} requests per CPU-second`,
      `  (${Math.min(...cost.ratios).toFixed(2)} to ${Math.max(...cost.ratios).toFixed(2)})`,
    ].join("");
  });
  return `${lines.join("\n")}\n`;
}

function costOf(name: string, index: number, rounds: readonly (readonly Figure[])[]): Cost {
  const each = (figure: keyof Figure, at: number) =>
    rounds.map((round) => round[at]?.[figure] ?? 0);
  const times = (figure: keyof Figure) => {
    const base = each(figure, 0);
    return each(figure, index).map((value, round) => value / (base[round] ?? 1));
  };
  const ratios = times("perCpuSecond").map((ratio) => 1 / ratio);
  return {
    name,
    perCpuSecond: median(each("perCpuSecond", index)),
    ratio: median(ratios),
    ratios,
    p50s: times("p50"),
    p50: median(times("p50")),
  };
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The one that so large a share (below 1) of them does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

async function startCase(
  { name, routes, script, environment: own, checkout, file: rest, folder: home, tls }: Case,
  folder: string,
  upstream: string,
) {
  if (script !== undefined) {
    const certificate = tls && { CERT: tls.cert, KEY: tls.key };
    const environment = { PORT: String(await freePort()), ...certificate, ...own };
    return start({ script, environment }, upstream);
  }
  const secure = tls && { protocol: "HTTPS", tls };
  const binds = [{ port: await freePort(), listeners: [{ name: "web", ...secure, routes }] }];
  const file = home === undefined ? `${folder}.json` : join(home, `${basename(folder)}.json`);
  writeFileSync(file, JSON.stringify({ ...rest, binds }));
  if (checkout === undefined) {
    const { files } = await compileFile(file, { name });
    writeFiles(folder, files);
  } else {
    const build = [join(checkout, "compiler/cli.ts"), "build", file, "-o", folder];
    execFileSync(process.execPath, build, { stdio: ["ignore", "ignore", "inherit"] });
  }
  const environment = { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" };
  return start({ script: join(folder, "gateway.mjs"), environment }, upstream);
}
