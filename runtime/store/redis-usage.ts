import { hash } from "node:crypto";
import {
  DAY,
  endOfPeriod,
  monthOf,
  NO_USAGE,
  type PeriodUsage,
  sumOfUsage,
  type UsageBatch,
  type UsageCounts,
  type UsageSelection,
} from "./usage.ts";

/**
 * Number of hashes of a period. The rows of a caller are in one of them, so that a caller's own usage is read without that of
 * all others.
 */
const PARTS = 64;

/** Callers whose rows are together, or the sums of all callers. */
type Part = number | "sums";

type CountedRow = UsageBatch["rows"][number];

/** Milliseconds for which the number of a batch is remembered. A writer sends a batch again within seconds of its first answer. */
const REMEMBERED = DAY;

/** Keys and arguments of a call of the script. */
interface UsageCommand {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

/**
 * Returns the calls that add a batch. Those of one part are on one node of a cluster, together with the number of the batch. Sums of
 * all callers are a part of their own.
 */
export function usageCommands(prefix: string, batch: UsageBatch): readonly UsageCommand[] {
  const { writer, sequence, day, rows, keptDays } = batch;
  const month = monthOf(day);
  const expiries = [day, month].map((period) => String(endOfPeriod(period) + keptDays * DAY));
  const parts: [Part, readonly CountedRow[]][] = [
    ...Map.groupBy(rows, ({ caller }) => partOf(caller)),
    ["sums", sumsOf(rows)],
  ];
  return parts.map(([part, own]) => ({
    keys: [
      `${placeOf(prefix, month, part)}:writer:${writer}`,
      placeOf(prefix, day, part),
      placeOf(prefix, month, part),
    ],
    values: [
      ...[String(sequence), String(Date.now() + REMEMBERED), ...expiries],
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
 * Returns the hashes with selected usage. If callers do not matter, those are the sums of all, of which there are few: rows of 10,000
 * callers and a year are millions.
 */
export function usagePlaces(
  prefix: string,
  { periods, caller, isByCaller }: UsageSelection,
): readonly UsagePlace[] {
  const parts = selectedParts(caller, isByCaller);
  return periods.flatMap((period) => {
    const read = (name: string, amounts: string) => {
      const [own, detail] = halvesOf(name);
      if (caller !== undefined && own !== caller) return undefined;
      return { period, caller: own, detail, counts: countsOf(amounts) };
    };
    return parts.map((part) => ({ key: placeOf(prefix, period, part), read }));
  });
}

function selectedParts(caller: string | undefined, isByCaller: boolean): readonly Part[] {
  if (caller !== undefined) return [partOf(caller)];
  return isByCaller ? Array.from({ length: PARTS }, (_, part) => part) : ["sums"];
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

function partOf(caller: string): Part {
  return Number.parseInt(hash("sha1", caller).slice(0, 2), 16) % PARTS;
}

/** Returns the sums of all callers by detail; a sum has no caller. */
function sumsOf(rows: readonly CountedRow[]): readonly CountedRow[] {
  return Array.from(
    Map.groupBy(rows, ({ detail }) => detail),
    ([detail, own]) => ({
      caller: "",
      detail,
      counts: own.reduce((sum, { counts }) => sumOfUsage(sum, counts), NO_USAGE),
    }),
  );
}

/** The month and the part, in braces, choose the node of a cluster. */
function placeOf(prefix: string, period: string, part: Part): string {
  return `${prefix}{usage:${monthOf(period)}:${part}}:${period}`;
}
