import { type Bench, COMPILED, type Section } from "./bench.ts";
import { CACHED, measureCached } from "./cached.ts";
import { GUARD_GROWTH, HOSTILE_PATTERN, measureGuards } from "./guards.ts";
import { GUARDED, llmCases, llmGoals, measureLlm, measurePortkey, portkeyGoals } from "./llm.ts";
import { eraGoals, measureMcp } from "./mcp.ts";
import { joined } from "./report.ts";

/** Sections about models and tools. */
export const modelSections: readonly Section[] = [
  { name: "llm", run: showLlm },
  { name: "cached", run: showCached },
  { name: "portkey", run: showPortkey },
  { name: "mcp", run: showMcp },
  { name: "guards", run: showGuards },
];

async function showLlm({ pace, report }: Bench): Promise<void> {
  for (const { name, costs } of await measureLlm({ ...pace, warmUp: COMPILED })) {
    report.table(`CPU of a completion relative to the same bytes through a plain proxy: ${name}`);
    const ratios = (wanted: string) => costs.find((each) => each.name === wanted)?.ratios ?? [];
    const again = ratios("plain again");
    report.figure({ name: "plain, the same once more", values: again });
    for (const [at, wanted] of llmCases.entries()) {
      const values = joined(ratios(wanted), again);
      report.figure({ name: wanted, values, goal: llmGoals[name]?.[at] });
    }
    const same = ratios("same format");
    const guarded = ratios("guarded").map((ratio, round) => ratio / (same[round] ?? 1));
    if (guarded.length > 0)
      report.figure({ name: "five patterns, relative to none", values: guarded, goal: GUARDED });
  }
}

async function showCached({ pace, report }: Bench): Promise<void> {
  const short = { ...pace, rounds: 3 * pace.rounds, requests: 2_000, warmUp: COMPILED };
  const [, again, cached] = await measureCached(short);
  report.table("CPU of a completion from the cache relative to a direct response");
  const values = joined(cached?.ratios ?? [], again?.ratios);
  report.figure({ name: "cached", values, goal: CACHED });
}

async function showPortkey({ pace, report }: Bench): Promise<void> {
  const costs = await measurePortkey(pace);
  if (costs.length === 0) return report.note("portkey: PORTKEY names no folder");
  report.table("CPU of a completion in Portkey's gateway relative to this one");
  for (const wanted of llmCases) {
    const [ours, theirs] = [wanted, `Portkey, ${wanted}`].map(
      (name) => costs.find((cost) => cost.name === name)?.ratios,
    );
    const values = (theirs ?? []).map((ratio, round) => ratio / (ours?.[round] ?? 1));
    report.figure({ name: wanted, values, goal: portkeyGoals[wanted], isMinimum: true });
  }
}

/** Many short rounds: other load of the machine affects both eras alike. */
async function showMcp({ pace, report }: Bench): Promise<void> {
  const short = { ...pace, rounds: 4 * pace.rounds, requests: 1_000, warmUp: COMPILED };
  const costs = await measureMcp(short);
  report.table("CPU of a tool call relative to the same bytes through a plain proxy");
  report.costs(costs);
  const ratiosOf = (wanted: string) => costs.find(({ name }) => name === wanted)?.ratios ?? [];
  for (const [suffix, goal] of Object.entries(eraGoals)) {
    const stateless = ratiosOf(`stateless${suffix}`);
    const values = ratiosOf(`sessions${suffix}`).map((each, at) => each / (stateless[at] ?? 1));
    report.figure({
      name: `sessions relative to stateless${suffix}`,
      values,
      goal,
      isMinimum: true,
    });
  }
}

function showGuards({ report }: Bench): void {
  const { named, microseconds, hostile } = measureGuards();
  report.table("CPU of guards in a loop, without a connection");
  report.figure({ name: "five patterns over 2 KB, relative to its JSON", values: [named] });
  report.figure({ name: "the same in microseconds", values: [microseconds], decimals: 1 });
  const worst = (pick: (each: (typeof hostile)[number]) => number) =>
    Math.max(...hostile.map(pick));
  report.figure({
    name: "the worst hostile pattern over 100 KB, in milliseconds",
    values: [worst(({ milliseconds }) => milliseconds)],
    goal: HOSTILE_PATTERN,
  });
  report.figure({
    name: "its growth for ten times the text, relative to ten times the CPU",
    values: [worst(({ growth }) => growth)],
    goal: GUARD_GROWTH,
  });
}
