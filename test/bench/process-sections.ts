import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, bundled, compiled, gatewayEnvironment, type Section } from "./bench.ts";
import { buildGoals, measureBuilds } from "./builds.ts";
import { formatCel, measureCel } from "./cel.ts";
import { measurePolicies } from "./custom-policies.ts";
import { measureDecisions } from "./decision.ts";
import { FIRST_P99, measureFirstRequests } from "./first-requests.ts";
import {
  footprintGoals,
  measureFootprint,
  measureThreads,
  measureTokens,
  TWO_THREADS,
} from "./footprint.ts";
import { makeIdentities } from "./identities.ts";
import { measureProcesses } from "./processes.ts";
import { measureTools, toolGoals } from "./tools.ts";
import { measureUsage, YEAR_REPORT } from "./usage.ts";

/** Sections about processes: their start, memory, threads and builds; reports; and loops without a connection. */
export const processSections: readonly Section[] = [
  { name: "footprint", run: showFootprint },
  { name: "first requests", run: showFirstRequests },
  { name: "threads", run: showThreads },
  { name: "processes", run: showProcesses },
  { name: "builds", run: showBuilds },
  { name: "custom policies", run: showCustomPolicies },
  { name: "decision", run: showDecisions },
  { name: "tools", run: showTools },
  { name: "usage", run: showUsage },
  { name: "cel", run: ({ report }) => report.note(formatCel(measureCel()).trimEnd()) },
];

/** Maximum nanoseconds that custom policies with an empty hook add to a request. */
const EMPTY: Readonly<Record<string, number>> = { "one empty": 300, "three empty": 1000 };

async function showFootprint({ folder, host, pace, report }: Bench): Promise<void> {
  const gateway = await compiled(folder, "plain", gatewayEnvironment(host));
  const hello = { script: await bundled(folder, "hello-world.ts"), environment: {} };
  const found = await measureFootprint(gateway, hello, pace.rounds);
  const goals = footprintGoals;
  report.table("Start and memory of a process");
  const figure = report.figure.bind(report);
  figure({
    name: "start, relative to a hello-world server",
    values: found.start,
    goal: goals.start,
  });
  figure({ name: "CPU of a start, relative to it", values: found.startCpu });
  figure({ name: "milliseconds of a start", values: found.milliseconds, decimals: 0 });
  figure({ name: "idle memory in MB", values: found.resident.map(megabytes), decimals: 0 });
  figure({ name: "idle memory, relative to it", values: found.memory, goal: goals.memory });
  figure({ name: "a held stream in KB", values: found.stream, goal: goals.stream, decimals: 1 });
  const { jwks, tokens } = await makeIdentities(1_000);
  const keys = join(folder, "jwks.json");
  writeFileSync(keys, jwks);
  const chain = await compiled(folder, "chain", { ...gatewayEnvironment(host), BENCH_JWKS: keys });
  figure({
    name: "memory in MB after requests with 1,000 tokens",
    values: (await measureTokens(chain, tokens)).map(megabytes),
    goal: goals.tokens,
    decimals: 0,
  });
}

async function showFirstRequests({ host, pace, report }: Bench): Promise<void> {
  const found = await measureFirstRequests(host, pace);
  report.table("The first 2,000 requests after a start, at 500 per second");
  report.figure({ name: "median time in milliseconds", values: found.p50 });
  report.figure({ name: "99 % in milliseconds", values: found.p99, goal: FIRST_P99 });
  report.figure({ name: "CPU, relative to the same after 20,000 requests", values: found.cpu });
  report.figure({ name: "99 % in milliseconds after 20,000 requests", values: found.laterP99 });
}

async function showThreads({ host, pace, report }: Bench): Promise<void> {
  report.table("Two threads relative to one");
  const { gateway, pipe } = await measureThreads(host, pace);
  report.figure({ name: "CPU of a GET", values: gateway, goal: TWO_THREADS });
  report.figure({ name: "the same through a pipe of Node.js", values: pipe });
}

async function showProcesses({ folder, host, pace, report }: Bench): Promise<void> {
  report.table("Four processes behind one port, and four threads, relative to one process");
  const { processes, threads, memory } = await measureProcesses(folder, host, pace);
  report.figure({ name: "CPU of a GET in four processes", values: processes });
  report.figure({ name: "the same in four threads", values: threads });
  report.figure({ name: "memory of four processes", values: [memory.processes / memory.one] });
  report.figure({ name: "memory of four threads", values: [memory.threads / memory.one] });
}

async function showBuilds({ folder, report }: Bench): Promise<void> {
  report.table("gwc build of 10,000 routes that only forward, nothing cached");
  const { cpu, memory, bundle } = await measureBuilds(folder);
  report.figure({ name: "CPU seconds", values: cpu, goal: buildGoals.cpu, decimals: 1 });
  report.figure({ name: "memory in MB", values: memory, goal: buildGoals.memory, decimals: 0 });
  report.figure({ name: "bundle in MB", values: [bundle], goal: buildGoals.bundle, decimals: 1 });
}

async function showCustomPolicies({ report }: Bench): Promise<void> {
  report.table("Nanoseconds of CPU that policies add to a request, without a connection");
  for (const { name, nanoseconds, from, to } of await measurePolicies())
    report.figure({ name, values: [from, nanoseconds, to], goal: EMPTY[name], decimals: 0 });
}

async function showDecisions({ report }: Bench): Promise<void> {
  report.table("Nanoseconds of finding a route, without a connection");
  const counts = [1, 10, 20, 21, 100, 1_000, 10_000];
  for (const { routes, nanoseconds } of await measureDecisions(counts))
    report.figure({ name: `among ${routes} routes`, values: [nanoseconds], decimals: 0 });
}

function showTools({ report }: Bench): void {
  report.table("Microseconds of MCP features, without a connection");
  const { search, rule } = measureTools();
  report.figure({ name: "a search among 500 tools", values: [search], goal: toolGoals.search });
  report.figure({ name: "a rule on two arguments", values: [rule], goal: toolGoals.rule });
}

async function showUsage({ folder, pace, report }: Bench): Promise<void> {
  report.table("Reports of a year of usage by 10,000 keys");
  for (const { by, embedded, redis } of await measureUsage(folder, pace.rounds)) {
    const name = `seconds by ${by}`;
    report.figure({ name: `${name}, from a file`, values: embedded, goal: YEAR_REPORT });
    if (redis === undefined) continue;
    report.figure({ name: `${name}, from Redis`, values: redis, goal: YEAR_REPORT });
    const values = redis.map((seconds, round) => seconds / (embedded[round] ?? Number.NaN));
    report.figure({ name: `${name}, Redis relative to the file`, values });
  }
}

function megabytes(bytes: number): number {
  return bytes / 1e6;
}
