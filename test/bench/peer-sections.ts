import { isInstalled } from "../harness/tool.ts";
import type { Bench, Section } from "./bench.ts";
import { measureNginx, measureRates, nginxGoals } from "./nginx.ts";

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

async function showLatency({ pace, report }: Bench): Promise<void> {
  if (!isInstalled("nginx")) return report.note("latency: nginx is not installed");
  report.table("Time of a request at fixed rates, relative to nginx");
  for (const { name, rate, costs } of await measureRates(pace)) {
    const [, ...others] = costs;
    for (const { name: peer, p50s, p99s } of others) {
      report.figure({ name: `${name} (${rate} per second), median: ${peer}`, values: p50s });
      report.figure({ name: `${name} (${rate} per second), 99 %: ${peer}`, values: p99s });
    }
  }
}
