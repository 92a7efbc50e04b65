import type { Paint } from "../../diagnostics/report/colors.ts";
import { wrapped } from "../reference/terminal.ts";
import { CHECK_GROUPS, type CheckedItem, type CheckStatus } from "./checked-item.ts";

/** Counts the results of each status. */
export function countStatuses(
  items: readonly CheckedItem[],
): Readonly<Record<CheckStatus, number>> {
  const counts = { ok: 0, note: 0, warning: 0, failed: 0, skipped: 0 };
  for (const { status } of items) counts[status] += 1;
  return counts;
}

/** Formats results for a terminal of this width, by group, with a total at the end. */
export function checksText(
  items: readonly CheckedItem[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const groups = CHECK_GROUPS.flatMap((group) => {
    const own = items.filter((item) => item.group === group);
    if (own.length === 0) return [];
    return [[paint("bold", group), ...own.flatMap((item) => lines(item, width, paint))].join("\n")];
  });
  const { failed, warning, ok } = countStatuses(items);
  const total = `${failed} failed, ${warning} ${warning === 1 ? "warning" : "warnings"}, ${ok} ok`;
  return `${groups.join("\n\n")}\n\n${total}\n`;
}

/** Columns of the status with its indentation. */
const INDENT = 11;

const STYLES = {
  ok: "green",
  note: "cyan",
  warning: "yellow",
  failed: "red",
  skipped: "gray",
} as const;

function lines(item: CheckedItem, width: number, paint: Paint): readonly string[] {
  const { status, name, detail, hint, place, milliseconds } = item;
  const time = milliseconds === undefined ? "" : ` (${milliseconds} ms)`;
  const [first = "", ...rest] = [
    ...wrapped(`${name}: ${detail}${time}`, width - INDENT),
    ...(place === undefined || status === "ok" ? [] : [place]),
    ...(hint === undefined ? [] : wrapped(`hint: ${hint}`, width - INDENT)),
  ];
  const label = paint(STYLES[status], status) + " ".repeat(INDENT - 2 - status.length);
  return [`  ${label}${first}`, ...rest.map((line) => " ".repeat(INDENT) + line)];
}

/** Formats results as JSON. `version` is increased with incompatible changes. */
export function checksJson(
  items: readonly CheckedItem[],
  facts: { readonly gwc: string; readonly files: readonly string[] },
): string {
  const value = { version: 1, ...facts, counts: countStatuses(items), checks: items };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
