import type { UsageCounts } from "../../../runtime/store/usage.ts";
import type { UsageGroup } from "../../../runtime/store/usage-report.ts";
import { textTable } from "./text-table.ts";

/** A report of usage. */
export interface UsageReport {
  readonly since: string;
  readonly until: string;
  readonly by: readonly string[];
  readonly groups: readonly UsageGroup[];
  readonly total: UsageCounts;
}

/** Returns a report as a table with a line per group, and the sum. Calls without a price have a column if there are any. */
export function usageTable({ by, groups, total }: UsageReport): string {
  const isPriced = total.unpriced === 0;
  const amounts = ["requests", "input", "output", "cost", ...(isPriced ? [] : ["unpriced"])];
  const line = (values: readonly string[], counts: UsageCounts): readonly string[] => [
    ...values,
    ...[counts.requests, counts.inputTokens, counts.outputTokens].map(String),
    costText(dollars(counts.cost)),
    ...(isPriced ? [] : [String(counts.unpriced)]),
  ];
  const rows = groups.map(({ values, counts }) =>
    line(
      values.map((value) => value || "-"),
      counts,
    ),
  );
  const sum = line(
    by.map((_, index) => (index === 0 ? "total" : "")),
    total,
  );
  const head = [...by, ...amounts].map((each) => each.toUpperCase());
  return textTable(head, [...rows, sum], (column) => column >= by.length);
}

/** Formats US dollars. A cost below a cent must not look like none. */
function costText(cost: number): string {
  return cost > 0 && cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`;
}

/** Returns a report as CSV (RFC 4180), with a line per group. */
export function usageCsv({ by, groups }: UsageReport): string {
  const lines = [
    [...by, ...AMOUNTS],
    ...groups.map(({ values, counts }) => [
      ...values.map((value) => safeCell(value ?? "")),
      ...Object.values(amountsOf(counts)).map(String),
    ]),
  ];
  return lines.map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

/** Returns a report as JSON. */
export function usageJson({ since, until, by, groups, total }: UsageReport): string {
  const rows = groups.map(({ values, counts }) => ({
    ...Object.fromEntries(by.map((column, index) => [column, values[index] ?? null])),
    ...amountsOf(counts),
  }));
  return `${JSON.stringify({ since, until, rows, total: amountsOf(total) }, undefined, 2)}\n`;
}

const AMOUNTS = ["requests", "inputTokens", "outputTokens", "cost", "unpricedRequests"] as const;

function amountsOf(counts: UsageCounts): Readonly<Record<(typeof AMOUNTS)[number], number>> {
  const { requests, inputTokens, outputTokens, cost, unpriced } = counts;
  const inDollars = dollars(cost);
  return { requests, inputTokens, outputTokens, cost: inDollars, unpricedRequests: unpriced };
}

/** The store counts billionths. */
function dollars(cost: number): number {
  return Number((cost / 1_000_000_000).toFixed(9));
}

/** Spreadsheets run cells that begin so as formulas, and callers choose their names. */
function safeCell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
