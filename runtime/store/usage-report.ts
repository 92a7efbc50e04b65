import type { Store } from "./store.ts";
import {
  DAY,
  dayOf,
  endOfPeriod,
  monthOf,
  NO_USAGE,
  readCaller,
  readDetail,
  sumOfUsage,
  type UsageCounts,
  type UsageSelection,
} from "./usage.ts";

/** A question about usage. */
export interface UsageQuestion {
  /** First and last day, in UTC: `2026-11-01`. */
  readonly since: string;
  readonly until: string;
  /** Columns that rows are grouped by: those of `USAGE_COLUMNS`, and attributes that the configuration adds. */
  readonly by: readonly string[];
  /** Caller, as `callerId` writes it; `undefined` for everybody. */
  readonly caller?: string | undefined;
}

/** Usage of one group. */
export interface UsageGroup {
  /** Values of the columns; `undefined` if a row has none. */
  readonly values: readonly (string | undefined)[];
  readonly counts: UsageCounts;
}

/** A group that is being added up. `name`: its values, which contain no line breaks. */
interface Group extends UsageGroup {
  readonly name: string;
  readonly counts: Mutable<UsageCounts>;
}

/** A map that makes its values. */
class Nested<Value> {
  readonly #values = new Map<string, Value>();
  readonly #make: () => Value;

  constructor(make: () => Value) {
    this.#make = make;
  }

  at(key: string): Value {
    const found = this.#values.get(key);
    if (found !== undefined) return found;
    const made = this.#make();
    this.#values.set(key, made);
    return made;
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Adds counts in place: new objects for each row take most of the time of a report. */
function addUsage(sum: Mutable<UsageCounts>, counts: UsageCounts): void {
  sum.requests += counts.requests;
  sum.inputTokens += counts.inputTokens;
  sum.outputTokens += counts.outputTokens;
  sum.cost += counts.cost;
  sum.unpriced += counts.unpriced;
}

/** Columns that every row has. */
export const USAGE_COLUMNS = ["key", "user", "kind", "issuer", "model", "day", "month"] as const;

/** Days that one question is about, at most. */
export const MAX_USAGE_DAYS = 3660;

/** Adds up usage. Groups with the highest cost come first, or by time if the first column is one. */
export async function reportUsage(
  store: Store,
  { since, until, by, caller }: UsageQuestion,
): Promise<readonly UsageGroup[]> {
  const periods = by.includes("day") ? daysOf(since, until) : periodsOf(since, until, Date.now());
  const groups = new Map<string, Group>();
  const parts = new RowParts(by);
  const groupOf = (period: string, id: string, detail: string): Group => {
    const values = parts.valuesOf(period, id, detail);
    const name = values.join("\n");
    const found = groups.get(name);
    if (found !== undefined) return found;
    const made = { name, values, counts: { ...NO_USAGE } };
    groups.set(name, made);
    return made;
  };
  // Rows of a year are hundreds of thousands, but many have the same group.
  const known = new Nested<Nested<Map<string, Group>>>(() => new Nested(() => new Map()));
  const selection: UsageSelection = {
    ...{ periods, caller },
    isByCaller: by.some((column) => OF_CALLER.has(column)),
    isByPeriod: by.some((column) => column === "day" || column === "month"),
  };
  await store.readUsage(selection, ({ period, caller: id, detail, counts }) => {
    const ofCaller = known.at(selection.isByPeriod ? period : "").at(id);
    const group = ofCaller.get(detail) ?? groupOf(period, id, detail);
    ofCaller.set(detail, group);
    addUsage(group.counts, counts);
  });
  return Array.from(groups.values()).toSorted((one, other) => order(by, one, other));
}

/** Returns the sum of groups. */
export function totalUsage(groups: readonly UsageGroup[]): UsageCounts {
  return groups.reduce((sum, { counts }) => sumOfUsage(sum, counts), NO_USAGE);
}

/** Whether a text is a day: `2026-11-29`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && isSame(text);
}

function isSame(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && dayOf(time) === text;
}

function order(by: readonly string[], one: Group, other: Group): number {
  const at = by.findIndex((column) => column === "day" || column === "month");
  const [a = "", b = ""] = [one.values[at], other.values[at]];
  if (a !== b) return a < b ? -1 : 1;
  const costs = other.counts.cost - one.counts.cost || other.counts.requests - one.counts.requests;
  return costs || (one.name < other.name ? -1 : 1);
}

/** Reads columns of rows. Callers and details repeat in every period, so they are parsed once. */
class RowParts {
  readonly #by: readonly string[];
  readonly #callers = new Map<string, (column: string) => string | undefined>();
  readonly #details = new Map<string, (column: string) => string | undefined>();

  constructor(by: readonly string[]) {
    this.#by = by;
  }

  valuesOf(period: string, caller: string, detail: string): readonly (string | undefined)[] {
    return this.#by.map((column) => {
      if (column === "day") return period;
      if (column === "month") return monthOf(period);
      return OF_CALLER.has(column)
        ? once(this.#callers, caller, callerColumns)(column)
        : once(this.#details, detail, detailColumns)(column);
    });
  }
}

const OF_CALLER: ReadonlySet<string> = new Set(["key", "user", "kind", "issuer"]);

function callerColumns(id: string): (column: string) => string | undefined {
  const { kind, name, issuer } = readCaller(id);
  const isKey = kind === "key" || kind === "key-digest";
  const shown = kind === "key-digest" ? `sha256:${name}` : name;
  const columns: Readonly<Record<string, string | undefined>> = {
    ...{ key: isKey ? shown : undefined, user: shown, kind, issuer },
  };
  return (column) => columns[column];
}

function detailColumns(id: string): (column: string) => string | undefined {
  const { model, attributes } = readDetail(id);
  return (column) => (column === "model" ? model : attributes[column]);
}

function once<Value>(known: Map<string, Value>, id: string, read: (id: string) => Value): Value {
  const found = known.get(id);
  if (found !== undefined) return found;
  const value = read(id);
  known.set(id, value);
  return value;
}

/**
 * Returns the months within a range, and the days of months that are not in it whole. A month is whole if only its future is
 * missing.
 */
function periodsOf(since: string, until: string, now: number): readonly string[] {
  const today = dayOf(now);
  const days = daysOf(since, until);
  const byMonth = Map.groupBy(days, monthOf);
  return Array.from(byMonth, ([month, own]) => {
    const isFromStart = own[0] === `${month}-01`;
    const last = dayOf(endOfPeriod(month) - DAY);
    const isToEnd = own.at(-1) === last || (monthOf(today) === month && until >= today);
    return isFromStart && isToEnd ? [month] : own;
  }).flat();
}

function daysOf(since: string, until: string): readonly string[] {
  const [first, last] = [Date.parse(since), Date.parse(until)];
  const count = Math.min(MAX_USAGE_DAYS, Math.floor((last - first) / DAY) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, index) => dayOf(first + index * DAY));
}
