import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { freePort } from "../harness/free-port.ts";
import { isInstalled } from "../harness/tool.ts";
import { CACHED, measureCached } from "./cached.ts";
import { formatCel, measureCel } from "./cel.ts";
import { type Case, compare, formatCosts, median, quantile } from "./compare.ts";
import { measurePolicies } from "./custom-policies.ts";
import { DEAD_COLLECTOR, measureDeadCollector } from "./dead-collector.ts";
import { measureDecisions } from "./decision.ts";
import { type Contender, type Duel, type Pace, type Round, run, start } from "./duel.ts";
import { footprintGoals, measureFootprint, measureThreads, TWO_THREADS } from "./footprint.ts";
import { GUARD_GROWTH, HOSTILE_PATTERN, measureGuards } from "./guards.ts";
import { limitCases, startBenchStore } from "./limits.ts";
import {
  GUARDED_STREAM,
  llmCases,
  llmGoals,
  measureLlm,
  measurePortkey,
  portkeyGoals,
} from "./llm.ts";
import { LOGGED, measureLog } from "./log.ts";
import { eraGoals, measureMcp } from "./mcp.ts";
import { measureNginx, measureRates } from "./nginx.ts";
import { policyCases } from "./policies.ts";
import { routeCases } from "./routes.ts";
import { makeIdentity } from "./token.ts";

// `npm run bench [-- SECTION ...]`. Absolute figures depend on the machine; ratios within the run are the result.
//   plain, chain  requests per CPU-second of a built gateway, relative to a hand-written proxy with the same work
//   policies      cost of each policy on top of a plain proxy; `policies=cors,retry` those alone
//   limits        the CPU of a limit that a process counts alone, that replicas lease, and that asks Redis for each request
//   external authorization  the CPU of a call of an authorization server over gRPC, on top of a plain proxy
//   tracing       cost of spans of all, of 1 % and of no requests
//   log           the access log on top of a plain proxy, in both formats
//   dead collector  CPU and time of a traced request while the collector is down
//   routes        1,000 and 10,000 routes relative to ten
//   llm           chat completions relative to the same bytes through a plain proxy: whole, streams, translated; and to
//                 Portkey's gateway where PORTKEY names a folder: `npm install --prefix DIR @portkey-ai/gateway`
//   cached        completions from the cache relative to direct responses
//   nginx         requests relative to Debian's nginx and haproxy: small, over TLS, 1 MB, 100 events at once and 2 ms apart
//   latency       how long requests take at fixed rates, relative to nginx
//   footprint     start and idle memory relative to a hello-world server, memory of a held stream
//   threads       throughput of two threads relative to one
//   mcp           calls of a tool through one target, in either era, relative to the same bytes through a plain proxy
//   guards        patterns of guards: relative to parsing the JSON; growth of hostile ones
//   decision      finding the route among so many, without a connection
//   custom policies  what custom policies add whose hooks do nothing, and the price of the public interface compared with
//                 built-in policies, without a connection
//   cel           an expression relative to two interpreters
// BENCH_ROUNDS, BENCH_SECONDS: how often and how long each is measured. BENCH_NODE_FLAGS=--cpu-prof profiles.

/** undici is CommonJS: its require of node: modules needs one in an ES module. */
const requireShim = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

const pace: Pace = {
  rounds: Number(process.env.BENCH_ROUNDS ?? 11),
  seconds: Number(process.env.BENCH_SECONDS ?? 1),
  connections: 64,
};

/** CPU of one call of an authorization server over gRPC, at most. */
const CALL_MICROSECONDS = 130;

/** How many times the CPU of an untraced request one takes at most that is traced, and one of a gateway that traces none. */
const TRACED: Readonly<Record<string, number>> = { "tracing (all)": 1.15, "tracing (none)": 1.02 };

/** How many times the CPU of a plain request one takes at most whose limit is leased. */
const LEASED = 1.03;

/** After so many requests V8 compiles nothing any more that short rounds would count: 30,000 calls of models, fewer of all else. */
const COMPILED = 40_000;

/** Nanoseconds that custom policies with a hook that does nothing add to a request at most. */
const EMPTY: Readonly<Record<string, number>> = { "one empty": 300, "three empty": 1000 };

const work = mkdtempSync(join(tmpdir(), "gwc-bench-"));
const upstream = await start({ script: path("upstream.ts"), environment: {} }, "");
const host = `127.0.0.1:${upstream.port}`;
const calloutServer = await start({ script: path("callout-server.ts"), environment: {} }, "");
const callouts = `127.0.0.1:${calloutServer.port}`;
const sections = process.argv.slice(2);
let isGood = true;
try {
  for (const duel of await duels()) {
    if (!isWanted(duel.name)) continue;
    const rounds = await run(duel, `http://${host}`, pace);
    isGood = report(duel, rounds) && isGood;
  }
  if (isWanted("policies")) await showCosts("policies", await policyCases(work, host, callouts));
  if (isWanted("limits")) await showLimits();
  if (isWanted("external authorization")) await showAuthorization();
  if (isWanted("tracing")) await showTracing();
  if (isWanted("log")) await showLog();
  if (isWanted("dead collector")) await showDeadCollector();
  if (isWanted("llm")) await showLlm();
  if (isWanted("cached")) await showCached();
  if (isWanted("nginx")) await showNginx();
  if (isWanted("latency")) await showLatency();
  if (isWanted("footprint")) await showFootprint();
  if (isWanted("threads")) await showThreads();
  if (isWanted("mcp")) await showMcp();
  if (isWanted("guards")) showGuards();
  if (isWanted("custom policies")) await showCustomPolicies();
  if (isWanted("decision")) await showDecisions();
  if (isWanted("routes")) await showCosts("routes", routeCases(host));
} finally {
  upstream.process.kill("SIGKILL");
  calloutServer.process.kill("SIGKILL");
  rmSync(work, { recursive: true });
}
if (isWanted("cel")) process.stdout.write(formatCel(measureCel()));
process.exitCode = isGood ? 0 : 1;

function isWanted(name: string): boolean {
  return sections.length === 0 || sections.some((each) => name.includes(each.replace(/=.*/, "")));
}

/** The first two cases are the base and its noise; the rest can be chosen from. */
async function showCosts(section: string, cases: readonly Case[]): Promise<void> {
  const given = sections.find((each) => each.startsWith(`${section}=`));
  const chosen = given?.slice(section.length + 1).split(",");
  const some = cases.filter(
    ({ name }, index) => index < 2 || chosen?.some((each) => name.includes(each)) !== false,
  );
  console.log(`${section}: CPU of a request relative to "${cases[0]?.name}"`);
  process.stdout.write(formatCosts(await compare(some, `http://${host}`, pace)));
}

async function showLimits(): Promise<void> {
  if (!isInstalled("redis-server")) return console.log("limits: redis-server is not installed");
  const store = await startBenchStore();
  try {
    const long = { ...pace, warmUp: COMPILED };
    const costs = await compare(limitCases(host, store.url), `http://${host}`, long);
    console.log('limits: CPU of a request relative to "plain"');
    process.stdout.write(formatCosts(costs));
    const leased = costs.find(({ name }) => name === "limit, leased");
    const ratio = leased === undefined ? 1 : quantile(leased.ratios, 0.25);
    console.log(`a leased limit: ${ratio.toFixed(3)} of a plain request (goal ${LEASED})`);
    isGood = ratio <= LEASED && isGood;
  } finally {
    store.stop();
  }
}

/** A quarter of the rounds may be disturbed by the machine: the goal is missed if three quarters of them miss it. */
async function showAuthorization(): Promise<void> {
  const names = ["plain", "plain again", "extAuthz (gRPC)"];
  const all = await policyCases(work, host, callouts);
  const cases = all.filter(({ name }) => names.includes(name));
  const costs = await compare(cases, `http://${host}`, { ...pace, warmUp: COMPILED });
  console.log('external authorization: CPU of a request relative to "plain"');
  process.stdout.write(formatCosts(costs));
  const [plain, , asked] = costs;
  if (plain === undefined || asked === undefined) return;
  const call = asked.ratios.map((ratio) => (ratio - 1) * (1e6 / plain.perCpuSecond));
  console.log(`a call over gRPC: ${spread(call)} us of CPU (goal ${CALL_MICROSECONDS})`);
  isGood = quantile(call, 0.25) <= CALL_MICROSECONDS && isGood;
}

/** Many short rounds, and both untraced cases as the measure of each; missed as an authorization server's goal is. */
async function showTracing(): Promise<void> {
  const all = await policyCases(work, host, callouts);
  const cases = all.filter(({ name }) => name.startsWith("plain") || name.startsWith("tracing"));
  const long = { ...pace, requests: 8_000, warmUp: COMPILED };
  const costs = await compare(cases, `http://${host}`, long);
  console.log('tracing: CPU of a request relative to "plain"');
  process.stdout.write(formatCosts(costs));
  const [, again, ...traced] = costs;
  for (const { name, ratios } of traced) {
    const cpu = joined(ratios, again?.ratios);
    const goal = TRACED[name];
    console.log(`${name}: CPU ${spread(cpu)}${goal === undefined ? "" : ` (goal ${goal})`}`);
    isGood = quantile(cpu, 0.25) <= (goal ?? Number.POSITIVE_INFINITY) && isGood;
  }
}

/** Many short rounds, with both cases without a log as the reference. Missed as an authorization server's goal is. */
async function showLog(): Promise<void> {
  const short = { ...pace, rounds: 3 * pace.rounds, requests: 2_000, warmUp: COMPILED };
  const costs = await measureLog(host, short);
  console.log('log: CPU of a request relative to "no log"');
  process.stdout.write(formatCosts(costs));
  const [, again, ...logged] = costs;
  for (const { name, ratios } of logged) {
    const cpu = joined(ratios, again?.ratios);
    console.log(`log, ${name}: CPU ${spread(cpu)} (goal ${LOGGED})`);
    isGood = quantile(cpu, 0.25) <= LOGGED && isGood;
  }
}

/**
 * Many short rounds, with both untraced cases as the reference of each. A quarter of the rounds may be disturbed by the
 * machine: the goal is missed if three quarters of them miss it.
 */
async function showDeadCollector(): Promise<void> {
  const short = { ...pace, rounds: 4 * pace.rounds, requests: 1_000, warmUp: COMPILED };
  const costs = await measureDeadCollector(host, short);
  console.log('dead collector: CPU of a traced request relative to "untraced"');
  process.stdout.write(formatCosts(costs));
  const [, again, ...dead] = costs;
  for (const { name, ratios, p50s, p99 } of dead) {
    const cpu = joined(ratios, again?.ratios);
    const time = joined(p50s, again?.p50s);
    console.log(
      `${name}: CPU ${spread(cpu)}, half of the requests ${spread(time)} times as long, 99 % ${p99.toFixed(2)} (goal ${DEAD_COLLECTOR})`,
    );
    isGood = Math.max(quantile(cpu, 0.25), quantile(time, 0.25)) <= DEAD_COLLECTOR && isGood;
  }
}

/** Ratios to the first of two cases that are the same, as ratios to both. `second`: those of the second. */
function joined(ratios: readonly number[], second: readonly number[] = []): readonly number[] {
  return ratios.map((ratio, round) => (2 * ratio) / (1 + (second[round] ?? 1)));
}

/** The middle, and where the middle half lies. */
function spread(values: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(2));
  return `${middle} (${low} to ${high})`;
}

/** Missed as an authorization server's goal is. */
async function showLlm(): Promise<void> {
  for (const { name, costs } of await measureLlm({ ...pace, warmUp: COMPILED })) {
    console.log(
      `llm, ${name}: CPU of a completion relative to the same bytes through a plain proxy`,
    );
    process.stdout.write(formatCosts(costs));
    const ratios = (wanted: string) => costs.find(({ name }) => name === wanted)?.ratios ?? [];
    const control = ratios("plain again");
    console.log(`plain again: CPU ${spread(control)}`);
    for (const [at, wanted] of llmCases.entries()) {
      const goal = llmGoals[name]?.[at] ?? Number.POSITIVE_INFINITY;
      const cpu = joined(ratios(wanted), control);
      console.log(`${wanted}: CPU ${spread(cpu)} (goal ${goal.toFixed(2)})`);
      isGood = quantile(cpu, 0.25) <= goal && isGood;
    }
    const same = ratios("same format");
    if (ratios("guarded").length === 0) continue;
    const guarded = ratios("guarded").map((ratio, round) => ratio / (same[round] ?? 1));
    const limit = name === "stream" ? GUARDED_STREAM : Number.POSITIVE_INFINITY;
    console.log(`guarded by five patterns: ${spread(guarded)} times the CPU without`);
    isGood = quantile(guarded, 0.25) <= limit && isGood;
  }
  const costs = await measurePortkey(pace);
  for (const wanted of llmCases) {
    const [ours, theirs] = [wanted, `Portkey, ${wanted}`].map(
      (name) => costs.find((cost) => cost.name === name)?.ratios,
    );
    if (ours === undefined || theirs === undefined) continue;
    const times = theirs.map((ratio, round) => ratio / (ours[round] ?? 1));
    console.log(
      `${wanted}: ${spread(times)} times as fast as Portkey (goal ${portkeyGoals[wanted]})`,
    );
    isGood = quantile(times, 0.75) >= portkeyGoals[wanted] && isGood;
  }
}

/** Many short rounds, with both direct responses as the reference. Missed as an authorization server's goal is. */
async function showCached(): Promise<void> {
  const short = { ...pace, rounds: 3 * pace.rounds, requests: 2_000, warmUp: COMPILED };
  const costs = await measureCached(short);
  console.log('cached: CPU of a request relative to "direct response"');
  process.stdout.write(formatCosts(costs));
  const [, again, cached] = costs;
  const cpu = joined(cached?.ratios ?? [], again?.ratios);
  console.log(`a cached completion: CPU ${spread(cpu)} of a direct response (goal ${CACHED})`);
  isGood = quantile(cpu, 0.25) <= CACHED && isGood;
}

async function showNginx(): Promise<void> {
  if (!isInstalled("nginx")) {
    console.log("nginx: left out, as it is not installed");
    return;
  }
  for await (const { name, costs } of measureNginx(work, host, pace)) {
    console.log(`nginx, ${name}: CPU of a request relative to nginx`);
    process.stdout.write(formatCosts(costs));
  }
}

async function showLatency(): Promise<void> {
  if (!isInstalled("nginx")) return console.log("latency: nginx is not installed");
  for (const { name, rate, costs } of await measureRates(host, pace)) {
    console.log(`latency at ${name}, ${rate} requests per second, relative to nginx`);
    for (const { name: peer, p50s, p99, p99s } of costs) {
      console.log(
        `  ${peer.padEnd(8)} p50 ${spread(p50s)}, p99 ${p99.toFixed(2)} (${spread(p99s)})`,
      );
    }
  }
}

async function showFootprint(): Promise<void> {
  const environment = {
    UPSTREAM_HOST: host,
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
  };
  const gateway = await compiled("plain", environment);
  const hello = { script: await bundle("hello-world.ts"), environment: {} };
  const found = await measureFootprint(gateway, hello, pace.rounds);
  const { start, memory, stream } = footprintGoals;
  console.log(
    `footprint: start ${found.start.toFixed(2)} times hello world (goal ${start}; its CPU ${found.startCpu.toFixed(2)})`,
  );
  const megabytes = Math.round(found.resident / 1e6);
  console.log(
    `footprint: open after ${Math.round(found.milliseconds)} ms, ${megabytes} MB resident`,
  );
  console.log(`footprint: idle memory ${found.memory.toFixed(2)} times (goal ${memory})`);
  console.log(`footprint: a held stream ${Math.round(found.stream)} bytes (goal ${stream})`);
  const isSmall = found.memory <= memory && found.stream <= stream;
  isGood = found.start <= start && isSmall && isGood;
}

async function showThreads(): Promise<void> {
  const times = await measureThreads(host, pace);
  console.log(`threads: two serve ${times.toFixed(2)} times what one does (goal ${TWO_THREADS})`);
  isGood = times >= TWO_THREADS && isGood;
}

/** Many short rounds: other load of the machine affects both eras alike. */
async function showMcp(): Promise<void> {
  const short = { ...pace, rounds: 4 * pace.rounds, requests: 1_000, warmUp: COMPILED };
  const costs = await measureMcp(short);
  console.log("mcp: CPU of a call relative to the same bytes through a plain proxy");
  process.stdout.write(formatCosts(costs));
  const ratiosOf = (wanted: string) => costs.find(({ name }) => name === wanted)?.ratios ?? [];
  for (const [suffix, goal] of Object.entries(eraGoals)) {
    const stateless = ratiosOf(`stateless${suffix}`);
    const times = median(
      ratiosOf(`sessions${suffix}`).map((each, round) => each / (stateless[round] ?? 1)),
    );
    console.log(`stateless calls${suffix}: ${times.toFixed(2)} times as many (goal ${goal})`);
    isGood = times >= goal && isGood;
  }
}

function showGuards(): void {
  const { named, microseconds, hostile } = measureGuards();
  console.log(
    `guards: five patterns over 2 KB take ${named.toFixed(2)} times its JSON (${microseconds.toFixed(1)} us)`,
  );
  for (const { pattern, milliseconds, growth } of hostile) {
    console.log(
      `${pattern.padEnd(30)} ${milliseconds.toFixed(1).padStart(7)} ms for 100 KB, growth ${growth.toFixed(2)}`,
    );
    isGood = growth <= GUARD_GROWTH && milliseconds <= HOSTILE_PATTERN && isGood;
  }
}

async function showDecisions(): Promise<void> {
  const counts = [1, 10, 20, 21, 100, 1_000, 10_000];
  for (const { routes, nanoseconds } of await measureDecisions(counts)) {
    console.log(
      `decision among ${String(routes).padStart(6)} routes  ${nanoseconds.toFixed(0)} ns`,
    );
  }
}

async function showCustomPolicies(): Promise<void> {
  console.log("custom policies: CPU that policies add to a request, without a connection");
  for (const { name, nanoseconds, from, to } of await measurePolicies()) {
    const goal = EMPTY[name];
    const note = goal === undefined ? "" : ` (goal ${goal})`;
    const range = `${from.toFixed(0)} to ${to.toFixed(0)}`;
    console.log(`${name.padEnd(40)} ${nanoseconds.toFixed(0).padStart(5)} ns  ${range}${note}`);
    isGood = nanoseconds <= (goal ?? nanoseconds) && isGood;
  }
}

async function duels(): Promise<readonly Duel[]> {
  const { jwks, token } = await makeIdentity();
  const keys = join(work, "jwks.json");
  writeFileSync(keys, jwks);
  const environment = {
    BENCH_JWKS: keys,
    JWKS: keys,
    UPSTREAM_HOST: host,
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
  };
  const plain = {
    gateway: await compiled("plain", environment),
    handwritten: { script: await bundle("handwritten.ts"), environment },
    goal: 0.95,
  };
  const chain = {
    gateway: await compiled("chain", environment),
    handwritten: { script: await bundle("handwritten-chain.ts"), environment },
    goal: 0.9,
  };
  const body = JSON.stringify({ text: "x".repeat(2000) });
  const origin = ["Origin: https://app.example.com", `Authorization: Bearer ${token}`];
  return [
    { name: "plain GET", request: get([]), ...plain },
    { name: "plain POST 2 KB", request: post([], body), ...plain },
    { name: "chain GET", request: get(origin), ...chain },
    { name: "chain POST 2 KB", request: post(origin, body), ...chain },
  ];
}

function get(headers: readonly string[]): string {
  return head("GET", "/items/1?q=x", headers);
}

function post(headers: readonly string[], body: string): string {
  const own = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  return head("POST", "/items", [...own, ...headers]) + body;
}

function head(method: string, target: string, headers: readonly string[]): string {
  const common = ["Host: api.example.com", "Accept: */*", "User-Agent: load"];
  return `${[`${method} ${target} HTTP/1.1`, ...common, ...headers].join("\r\n")}\r\n\r\n`;
}

/** A configuration of gateways/, built as a user builds it. */
async function compiled(name: string, environment: Record<string, string>): Promise<Contender> {
  const output = join(work, name);
  const settings = { ...environment, BENCH_PORT: String(await freePort()) };
  const build = [path("../../compiler/cli.ts"), "build", path(`gateways/${name}.yaml`)];
  execFileSync(process.execPath, [...build, "-o", output], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { script: join(output, "gateway.mjs"), environment: settings };
}

/** One file, minified: what `gwc build` makes of a gateway, it makes of the hand-written proxy too. */
async function bundle(entry: string): Promise<string> {
  const outfile = join(work, `${entry.replaceAll(/\W+/g, "-")}.mjs`);
  await build({
    entryPoints: [path(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    minify: true,
    banner: { js: requireShim },
    logLevel: "warning",
  });
  return outfile;
}

function report(duel: Duel, rounds: readonly Round[]): boolean {
  const ratio = median(rounds.map((round) => round.ratio));
  const figure = (pick: (round: Round) => number) => Math.round(median(rounds.map(pick)));
  const isGood = ratio >= duel.goal;
  console.log(
    `${duel.name}: ratio ${ratio.toFixed(3)} (goal ${duel.goal}) ${isGood ? "ok" : "LOW"}`,
  );
  console.log(`  gateway      ${figure((r) => r.gateway.perCpuSecond)} requests per CPU-second`);
  console.log(
    `  hand-written ${figure((r) => r.handwritten.perCpuSecond)} requests per CPU-second`,
  );
  console.log(`  rounds       ${rounds.map((round) => round.ratio.toFixed(3)).join(" ")}`);
  return isGood;
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
