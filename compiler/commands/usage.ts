import type { UsageQuestion } from "../../runtime/store/usage-report.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { checkInput } from "../inspect/check-input.ts";
import { NoStoreError, openStore } from "../inspect/keys/open-keys.ts";
import {
  type UsageReport,
  usageCsv,
  usageJson,
  usageTable,
} from "../inspect/keys/usage-formats.ts";
import type { UsageNode } from "../ir/usage.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

const FORMATS = { table: usageTable, csv: usageCsv, json: usageJson } as const;

/** `gwc usage`: reports which callers used which models, and what it cost. */
export const usage: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "Reports requests, tokens and costs of models, which a gateway with `config.usage` adds up per caller, model and day in " +
    "its store: Redis or Valkey (`config.store`), or a file in GWC_STATE_DIR. Days begin in UTC. Calls without a known price " +
    "are counted apart, as unpriced.\n" +
    "Columns: key, user, kind, issuer, model, day, month, and the attributes of `config.usage.by`.\n" +
    "Exit code: 0 done, 1 not possible, 2 usage error.",
  options: [
    { name: "by", value: "COLUMN,..", summary: "columns of the report (default: key,model)" },
    { name: "since", value: "DATE", summary: "first day (default: the first of this month)" },
    { name: "until", value: "DATE", summary: "last day (default: today)" },
    {
      name: "format",
      value: "FORMAT",
      choices: Object.keys(FORMATS),
      summary: "output (default: table)",
    },
    { name: "file", short: "f", value: "FILE", summary: "configuration (default: gateway.yaml)" },
    gateway,
  ],
  examples: [
    "gwc usage",
    "gwc usage --by team,model --since 2026-11-01 --format csv",
    "gwc usage --by month,key --since 2026-01-01",
  ],
  work: printUsage,
};

async function printUsage(
  { options }: Arguments,
  { host, isColored }: CommandContext,
): Promise<CommandResult> {
  const { isDay, MAX_USAGE_DAYS, reportUsage, totalUsage, USAGE_COLUMNS } = await import(
    "gwc/runtime/store/usage-report"
  );
  const today = new Date().toISOString().slice(0, 10);
  const { since = `${today.slice(0, 7)}-01`, until = today } = options;
  for (const [name, day] of Object.entries({ since, until }))
    if (!isDay(day)) return wrong(`--${name} needs a day such as 2026-11-01`);
  if (since > until) return wrong(`--since ${since} is after --until ${until}`);
  if (Date.parse(until) - Date.parse(since) >= MAX_USAGE_DAYS * 86_400_000)
    return wrong(`a report is about at most ${MAX_USAGE_DAYS} days`);
  const files = options.file === undefined ? [] : [options.file];
  const input = commandInput(files, host, "gwc usage --file FILE");
  if (input.kind === "none") return input.result;
  const { program, literals, findings } = checkInput(input.files, host, false, options.gateway);
  if (program === undefined) return { exitCode: 1, stderr: textReport(findings, isColored.stderr) };
  if (program.usage === undefined)
    return problem("this gateway stores no usage: write config: { usage: {} }");
  const by = (options.by ?? "key,model").split(",").map((each) => each.trim());
  const known = [...USAGE_COLUMNS, ...program.usage.by.map(({ name }) => name)];
  const unknown = by.find((column) => !known.includes(column));
  if (unknown !== undefined) {
    const meant = suggest(unknown, known);
    const hint = meant === undefined ? `columns: ${known.join(", ")}` : `did you mean ${meant}?`;
    return wrong(`there is no column "${unknown}"`, hint);
  }
  try {
    const store = await openStore(program, literals, host, {
      missing: "this gateway has no store",
      what: "usage is",
    });
    try {
      const groups = await reportUsage(store, { since, until, by } satisfies UsageQuestion);
      const report: UsageReport = { since, until, by, groups, total: totalUsage(groups) };
      const format = Object.entries(FORMATS).find(([name]) => name === options.format)?.[1];
      return {
        exitCode: 0,
        stdout: (format ?? usageTable)(report),
        stderr: noteOf(since, today, program.usage),
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    const isExpected = error instanceof Error && error.name === "StoreError";
    if (isExpected || error instanceof NoStoreError) return problem(error.message);
    throw error;
  }
}

function noteOf(since: string, today: string, { days }: UsageNode): string {
  const oldest = new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
  return since < oldest
    ? `note: usage before ${oldest} is deleted: config.usage.days is ${days}\n`
    : "";
}

function problem(text: string): CommandResult {
  return { exitCode: 1, stderr: `error: ${text}\n` };
}

function wrong(text: string, hint = "see `gwc usage --help`"): CommandResult {
  return { exitCode: 2, stderr: `error: ${text}\nhint: ${hint}\n` };
}
