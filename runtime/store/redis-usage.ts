import { hash } from "node:crypto";
import { DAY, endOfPeriod, monthOf, type PeriodUsage, type UsageBatch } from "./usage.ts";

/**
 * Number of hashes of a period. The rows of a caller are in one of them, so that a caller's own usage is read without that of
 * all others.
 */
const PARTS = 64;

/** Milliseconds for which the number of a batch is remembered. A writer sends a batch again within seconds of its first answer. */
const REMEMBERED = DAY;

/** Keys and arguments of a call of the script. */
interface UsageCommand {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

/** Returns the calls that add a batch. Those of one part are on one node of a cluster, together with the number of the batch. */
export function usageCommands(prefix: string, batch: UsageBatch): readonly UsageCommand[] {
  const { writer, sequence, day, rows, keptDays } = batch;
  const month = monthOf(day);
  const expiries = [day, month].map((period) => String(endOfPeriod(period) + keptDays * DAY));
  const byPart = Map.groupBy(rows, ({ caller }) => partOf(caller));
  return Array.from(byPart, ([part, own]) => ({
    keys: [
      `${placeOf(prefix, month, part)}:writer:${writer}`,
      placeOf(prefix, day, part),
      placeOf(prefix, month, part),
    ],
    values: [
      ...[String(sequence), String(Date.now() + REMEMBERED), ...expiries],
      ...own.flatMap(({ caller, detail, counts }) => [
        `${caller}\n${detail}`,
        ...[counts.requests, counts.inputTokens, counts.outputTokens].map(String),
        ...[counts.cost, counts.unpriced].map(String),
      ]),
    ],
  }));
}

/** Returns the keys with the usage of a period: all, or the one of a caller. */
export function usagePlaces(
  prefix: string,
  period: string,
  caller: string | undefined,
): readonly string[] {
  const parts = caller === undefined ? Array.from({ length: PARTS }).keys() : [partOf(caller)];
  return Array.from(parts, (part) => placeOf(prefix, period, part));
}

/** Reads the response to HGETALL: a list of fields and values. Fields that are no usage are omitted. */
export function* usageIn(period: string, response: unknown): Iterable<PeriodUsage> {
  const list: readonly unknown[] = Array.isArray(response) ? response : [];
  for (let at = 0; at < list.length; at += 2) {
    const row = String(list[at]);
    const end = row.indexOf("\n");
    const amounts = String(list[at + 1]).split(" ");
    const [requests = 0, inputTokens = 0, outputTokens = 0, cost = 0, unpriced = 0] =
      amounts.map(Number);
    if (end === -1) continue;
    yield {
      ...{ period, caller: row.slice(0, end), detail: row.slice(end + 1) },
      counts: { requests, inputTokens, outputTokens, cost, unpriced },
    };
  }
}

function partOf(caller: string): number {
  return Number.parseInt(hash("sha1", caller).slice(0, 2), 16) % PARTS;
}

/** The month and the part, in braces, choose the node of a cluster. */
function placeOf(prefix: string, period: string, part: number): string {
  return `${prefix}{usage:${monthOf(period)}:${part}}:${period}`;
}
