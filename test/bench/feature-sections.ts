import { isInstalled } from "../harness/tool.ts";
import { type Bench, COMPILED, type Section } from "./bench.ts";
import { type Case, type Cost, compare } from "./compare.ts";
import { DEAD_COLLECTOR, measureDeadCollector } from "./dead-collector.ts";
import { limitCases, startBenchStore } from "./limits.ts";
import { LOGGED, measureLog } from "./log.ts";
import { policyCases } from "./policies.ts";
import { joined } from "./report.ts";
import { routeCases } from "./routes.ts";

/** Sections about the cost of one feature on top of a plain proxy. */
export const featureSections: readonly Section[] = [
  { name: "policies", run: showPolicies },
  { name: "limits", run: showLimits },
  { name: "external authorization", run: showAuthorization },
  { name: "tracing", run: showTracing },
  { name: "log", run: showLog },
  { name: "dead collector", run: showDeadCollector },
  { name: "routes", run: (bench) => showCosts(bench, "routes", routeCases(bench.host)) },
];

/** Maximum microseconds of CPU of one call of an authorization server over gRPC. */
const CALL_MICROSECONDS = 130;

/** Maximum CPU of a traced request, and of one of a gateway that traces none, relative to an untraced one. */
const TRACED: Readonly<Record<string, number>> = { "tracing (all)": 1.12, "tracing (none)": 1.02 };

/** Maximum CPU of a request whose limit is leased, relative to a plain one. */
const LEASED = 1.03;

async function showPolicies(bench: Bench): Promise<void> {
  await showCosts(bench, "policies", await policyCases(bench.folder, bench.host, bench.callouts));
}

/** The first two cases are the base and its noise; the rest can be chosen from. */
async function showCosts(
  { host, pace, report, chosen }: Bench,
  section: string,
  cases: readonly Case[],
): Promise<void> {
  const wanted = chosen(section);
  const some = cases.filter(
    ({ name }, index) => index < 2 || wanted?.some((each) => name.includes(each)) !== false,
  );
  report.table(`CPU of a request relative to "${cases[0]?.name}": ${section}`);
  report.costs(await compare(some, `http://${host}`, { ...pace, warmUp: COMPILED }));
}

async function showLimits({ host, pace, report }: Bench): Promise<void> {
  if (!isInstalled("redis-server")) return report.note("limits: redis-server is not installed");
  const store = await startBenchStore();
  try {
    const long = { ...pace, warmUp: COMPILED };
    report.table('CPU of a request relative to "plain": limits');
    const cases = limitCases(host, store.url);
    report.costs(await compare(cases, `http://${host}`, long), { "limit, leased": LEASED });
  } finally {
    store.stop();
  }
}

async function showAuthorization({ folder, host, callouts, pace, report }: Bench): Promise<void> {
  const names = ["plain", "plain again", "extAuthz (gRPC)"];
  const all = await policyCases(folder, host, callouts);
  const cases = all.filter(({ name }) => names.includes(name));
  report.table("CPU of an authorization server's call over gRPC, in microseconds");
  const costs = await compare(cases, `http://${host}`, { ...pace, warmUp: COMPILED });
  const [plain, , asked] = costs;
  if (plain === undefined || asked === undefined) return;
  const values = asked.ratios.map((ratio) => (ratio - 1) * (1e6 / plain.perCpuSecond));
  report.figure({ name: "call", values, goal: CALL_MICROSECONDS, decimals: 0 });
}

async function showTracing({ folder, host, callouts, pace, report }: Bench): Promise<void> {
  const all = await policyCases(folder, host, callouts);
  const cases = all.filter(({ name }) => name.startsWith("plain") || name.startsWith("tracing"));
  const short = { ...pace, rounds: 3 * pace.rounds, requests: 3_000, warmUp: COMPILED };
  report.table("CPU of a request relative to an untraced one");
  showRelative(report, await compare(cases, `http://${host}`, short), TRACED);
}

/** Many short rounds, as other work of the machine changes from one second to the next. */
async function showLog({ host, pace, report }: Bench): Promise<void> {
  const short = { ...pace, rounds: 3 * pace.rounds, requests: 2_000, warmUp: COMPILED };
  report.table("CPU of a request relative to one without a line in the access log");
  showRelative(report, await measureLog(host, short), { text: LOGGED, json: LOGGED });
}

async function showDeadCollector({ host, pace, report }: Bench): Promise<void> {
  const short = { ...pace, rounds: 4 * pace.rounds, requests: 1_000, warmUp: COMPILED };
  const costs = await measureDeadCollector(host, short);
  report.table(
    "CPU and time of a traced request while the collector is down, relative to an untraced one",
  );
  const [, again, ...dead] = costs;
  for (const { name, ratios, p50s } of dead) {
    const goal = DEAD_COLLECTOR;
    report.figure({ name: `${name}, CPU`, values: joined(ratios, again?.ratios), goal });
    report.figure({ name: `${name}, median time`, values: joined(p50s, again?.p50s), goal });
  }
}

/** Adds cases relative to the first two, which are the same. */
function showRelative(
  report: Bench["report"],
  costs: readonly Cost[],
  goals: Readonly<Record<string, number>>,
): void {
  const [, again, ...others] = costs;
  report.figure({ name: "the same once more", values: again?.ratios ?? [] });
  for (const { name, ratios } of others)
    report.figure({ name, values: joined(ratios, again?.ratios), goal: goals[name] });
}
