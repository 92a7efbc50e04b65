import { hash } from "node:crypto";
import {
  DAY,
  endOfPeriod,
  monthOf,
  type PeriodUsage,
  type UsageBatch,
  type UsageCounts,
  type UsageSelection,
} from "./usage.ts";

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
      sumsOf(prefix, month, part),
    ],
    values: [
      ...[String(sequence), String(Date.now() + REMEMBERED), ...expiries, day],
      ...own.flatMap(({ caller, detail, counts }) => [
        ...[caller, detail],
        ...[counts.requests, counts.inputTokens, counts.outputTokens].map(String),
        ...[counts.cost, counts.unpriced].map(String),
      ]),
    ],
  }));
}

/** A hash with usage. */
export interface UsagePlace {
  readonly key: string;
  /** Reads one of its fields; `undefined` if it was not selected. */
  readonly read: (name: string, amounts: string) => PeriodUsage | undefined;
}

/**
 * Returns the hashes with selected usage. If callers do not matter, those are the sums of days, of which there are few: rows of
 * 10,000 callers and a year are millions.
 */
export function usagePlaces(
  prefix: string,
  { periods, caller, isByCaller }: UsageSelection,
): readonly UsagePlace[] {
  const parts =
    caller === undefined ? Array.from({ length: PARTS }, (_, part) => part) : [partOf(caller)];
  if (!isByCaller && caller === undefined) {
    const selected = new Set(periods);
    return Array.from(new Set(periods.map(monthOf)), (month) => {
      const isWhole = selected.has(month);
      const read = (name: string, amounts: string) => {
        const [day, detail] = halvesOf(name);
        if (!isWhole && !selected.has(day)) return undefined;
        return { period: day, caller: "", detail, counts: countsOf(amounts) };
      };
      return parts.map((part) => ({ key: sumsOf(prefix, month, part), read }));
    }).flat();
  }
  return periods.flatMap((period) => {
    const read = (name: string, amounts: string) => {
      const [own, detail] = halvesOf(name);
      if (caller !== undefined && own !== caller) return undefined;
      return { period, caller: own, detail, counts: countsOf(amounts) };
    };
    return parts.map((part) => ({ key: placeOf(prefix, period, part), read }));
  });
}

/** Reads the response to HGETALL: a list of fields and values. */
export function readUsagePlace(
  { read }: UsagePlace,
  response: unknown,
  each: (usage: PeriodUsage) => void,
): void {
  const list: readonly unknown[] = Array.isArray(response) ? response : [];
  for (let at = 0; at < list.length; at += 2) {
    const usage = read(String(list[at]), String(list[at + 1]));
    if (usage !== undefined) each(usage);
  }
}

function halvesOf(name: string): readonly [string, string] {
  const end = name.indexOf("\n");
  return [name.slice(0, end), name.slice(end + 1)];
}

function countsOf(amounts: string): UsageCounts {
  const [requests, inputTokens, outputTokens, cost, unpriced] = amounts.split(" ");
  return {
    requests: Number(requests),
    inputTokens: Number(inputTokens),
    outputTokens: Number(outputTokens),
    cost: Number(cost),
    unpriced: Number(unpriced),
  };
}

function partOf(caller: string): number {
  return Number.parseInt(hash("sha1", caller).slice(0, 2), 16) % PARTS;
}

/** The month and the part, in braces, choose the node of a cluster. */
function placeOf(prefix: string, period: string, part: number): string {
  return `${prefix}{usage:${monthOf(period)}:${part}}:${period}`;
}

/** Sums of the days of a month, of all callers of a part. */
function sumsOf(prefix: string, month: string, part: number): string {
  return `${placeOf(prefix, month, part)}:days`;
}
