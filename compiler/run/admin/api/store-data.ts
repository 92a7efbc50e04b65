import type { UsageCounts } from "../../../../runtime/store/usage.ts";
import type { UsageQuestion } from "../../../../runtime/store/usage-report.ts";
import { keyFindings, limitText } from "../../../inspect/keys/key-table.ts";
import { NoStoreError, openKeys, openStore } from "../../../inspect/keys/open-keys.ts";
import type { LiveView } from "../view.ts";
import type { KeysData, ProblemData, UsageData, UsageGroupData } from "./admin-api.ts";

/** A question of the page about usage; absent parts have defaults. */
export interface AskedUsage {
  readonly since: string | null;
  readonly until: string | null;
  /** Columns, separated by commas. */
  readonly by: string | null;
}

/** Maximum number of groups of a report; more are added up as one. */
const MAX_GROUPS = 500;

/** Reports usage of models from the gateway's store, as `gwc usage` does. */
export async function usageData(
  { current: { program, literals }, host }: LiveView,
  asked: AskedUsage,
): Promise<UsageData | ProblemData> {
  const { isDay, MAX_USAGE_DAYS, reportUsage, totalUsage, USAGE_COLUMNS } = await import(
    "gwc/runtime/store/usage-report"
  );
  if (program.usage === undefined)
    return { problem: "This gateway stores no usage. Write config: { usage: {} }." };
  const today = new Date().toISOString().slice(0, 10);
  const since = asked.since ?? `${today.slice(0, 7)}-01`;
  const until = asked.until ?? today;
  const columns = [...USAGE_COLUMNS, ...program.usage.by.map(({ name }) => name)];
  const by = (asked.by ?? "key,model").split(",");
  if (!isDay(since) || !isDay(until) || since > until)
    return { problem: "The first day must be a day before the last one." };
  if (Date.parse(until) - Date.parse(since) >= MAX_USAGE_DAYS * 86_400_000)
    return { problem: `A report is about at most ${MAX_USAGE_DAYS} days.` };
  if (by.length > columns.length || by.some((column) => !columns.includes(column)))
    return { problem: `Columns are ${columns.join(", ")}.` };
  return withProblems(async () => {
    const words = { missing: "This gateway has no store.", what: "usage is" };
    const store = await openStore(program, literals, host, words);
    try {
      const groups = await reportUsage(store, { since, until, by } satisfies UsageQuestion);
      const [shown, rest] = [groups.slice(0, MAX_GROUPS), groups.slice(MAX_GROUPS)];
      const others = rest.length === 0 ? [] : [{ values: ["(other)"], counts: totalUsage(rest) }];
      return {
        ...{ since, until, by, columns },
        groups: [...shown, ...others].map(({ values, counts }) => groupData(values, counts)),
        total: groupData([], totalUsage(groups)),
      };
    } finally {
      await store.close();
    }
  });
}

/** Lists the API keys of the gateway's store, without digests. */
export async function keysData({
  current: { program, literals },
  host,
}: LiveView): Promise<KeysData | ProblemData> {
  return withProblems(async () => {
    const { keys, close } = await openKeys(program, literals, host);
    try {
      const listed = await keys.list();
      return {
        keys: listed.keys.map(
          ({ name, shown, metadata, models, limits, created, expires, isReplaced }) => ({
            ...{ name, shown, created, isReplaced },
            metadata: Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata),
            models: models ?? null,
            limits: limits.map(limitText),
            rules: JSON.stringify(limits),
            expires: expires ?? null,
          }),
        ),
        findings: keyFindings(listed.keys),
      };
    } finally {
      await close();
    }
  });
}

function groupData(
  values: readonly (string | undefined)[],
  { requests, inputTokens, outputTokens, cost, unpriced }: UsageCounts,
): UsageGroupData {
  return {
    values: values.map((value) => value ?? null),
    ...{ requests, input: inputTokens, output: outputTokens, unpriced },
    // Costs are stored in billionths of a dollar.
    cost: cost / 1e9,
  };
}

async function withProblems<Data>(read: () => Promise<Data>): Promise<Data | ProblemData> {
  try {
    return await read();
  } catch (error) {
    // Errors of modules that are loaded on demand are known by their names.
    const isOfStore = error instanceof Error && error.name === "StoreError";
    if (error instanceof NoStoreError || isOfStore) return { problem: error.message };
    throw error;
  }
}
