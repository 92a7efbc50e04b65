import { isInstalled } from "../harness/tool.ts";
import type { Bench, Section } from "./bench.ts";
import { latencyGoals, measureLatencies, type RateLatencies } from "./latency.ts";
import { measureNginx, nginxGoals } from "./nginx.ts";
import type { OpenLoad } from "./open-loop.ts";
import type { Report } from "./report.ts";

/** Sections about other proxies, all of which log each request. */
export const peerSections: readonly Section[] = [
  { name: "nginx", run: showNginx },
  { name: "latency", run: showLatency },
];

async function showNginx({ folder, host, pace, report }: Bench): Promise<void> {
  if (!isInstalled("nginx")) return report.note("nginx: it is not installed");
  report.table("CPU of a request relative to nginx");
  for await (const { name, costs } of measureNginx(folder, host, pace)) {
    const [, ...others] = costs;
    for (const { name: peer, ratios } of others) {
      const goal = peer === "gateway" ? nginxGoals[name] : undefined;
      report.figure({ name: `${name}: ${peer}`, values: ratios, goal });
    }
  }
}

async function showLatency({ folder, pace, report }: Bench): Promise<void> {
  if (!isInstalled("nginx")) return report.note("latency: nginx is not installed");
  report.table("Time of a request at fixed rates, next to nginx");
  for (const measured of await measureLatencies(folder, pace)) showRate(measured, report);
}

function showRate({ share, rate, nginx, gateway, pauses }: RateLatencies, report: Report): void {
  const at = `${share * 100} % of the capacity (${rate} per second)`;
  const relative = (of: (load: OpenLoad) => number) =>
    gateway.map((ours, round) => of(ours) / of(nginx[round] ?? ours));
  const figure = (what: string, values: readonly number[], goal?: number) =>
    report.figure({ name: `${at}: ${what}`, values, goal });
  figure(
    "median, relative to nginx",
    relative(({ p50 }) => p50),
  );
  const goal = latencyGoals[share];
  figure(
    "99 %, relative to nginx",
    relative(({ p99 }) => p99),
    goal,
  );
  figure(
    "99.9 %, relative to nginx",
    relative(({ p999 }) => p999),
  );
  for (const [name, loads] of [["gateway", gateway] as const, ["nginx", nginx] as const]) {
    figure(
      `99 % in milliseconds, ${name}`,
      loads.map(({ p99 }) => p99),
    );
    figure(
      `99.9 % in milliseconds, ${name}`,
      loads.map(({ p999 }) => p999),
    );
    figure(
      `of which clients sent late, ${name}`,
      loads.map(({ late }) => late),
    );
  }
  figure(
    "longest pause for garbage in milliseconds",
    pauses.map((each) => Math.max(0, ...each)),
  );
  figure(
    "pauses for garbage",
    pauses.map((each) => each.length),
  );
}
