/** Usage of models by one caller, as the store adds it up. All members are whole numbers, so that sums are exact. */
export interface UsageCounts {
  /** Calls that a provider answered, and responses from the cache. */
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
  /** Calls that used tokens and whose price is not known; `cost` does not contain them. */
  readonly unpriced: number;
}

/** Caller, and model with its attributes. */
export interface UsageRow {
  /** Caller, as `callerId` writes it. */
  readonly caller: string;
  /** Model, and the attributes that the configuration adds, as `detailId` writes them. */
  readonly detail: string;
}

/** Usage of a row within a day (`2026-11-29`) or a month (`2026-11`), in UTC. */
export interface PeriodUsage extends UsageRow {
  readonly period: string;
  readonly counts: UsageCounts;
}

/** Usage to read. */
export interface UsageSelection {
  /** Days and months. */
  readonly periods: readonly string[];
  /** Caller whose usage it is; `undefined` for everybody. */
  readonly caller: string | undefined;
  /** Whether callers and periods matter; otherwise a store may show sums of several ones. */
  readonly isByCaller: boolean;
  readonly isByPeriod: boolean;
}

/** Usage of one day that a process has collected. */
export interface UsageBatch {
  /** Names the process and its thread. */
  readonly writer: string;
  /** Higher than that of every earlier batch of the writer. The store adds a batch once, however often it is sent. */
  readonly sequence: number;
  readonly day: string;
  readonly rows: readonly (UsageRow & { readonly counts: UsageCounts })[];
  /** Days for which it is stored. */
  readonly keptDays: number;
}

/** No usage. */
export const NO_USAGE: UsageCounts = {
  ...{ requests: 0, inputTokens: 0, outputTokens: 0 },
  ...{ cost: 0, unpriced: 0 },
};

/** Adds up usage. */
export function sumOfUsage(one: UsageCounts, other: UsageCounts): UsageCounts {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: one.cost + other.cost,
    unpriced: one.unpriced + other.unpriced,
  };
}

/** Billionths in a US dollar. */
export const NANOS = 1_000_000_000;

/** A caller in the table of usage. */
export interface UsageCaller {
  /** `key`, `key-digest`, `jwt` or `user`; `none` for anonymous requests. */
  readonly kind: string;
  readonly name: string;
  readonly issuer?: string | undefined;
}

/** Writes a caller; different callers have different ids. */
export function callerId({ kind, name, issuer }: UsageCaller): string {
  return JSON.stringify(issuer === undefined ? [kind, name] : [kind, name, issuer]);
}

/** Reads a caller. */
export function readCaller(id: string): UsageCaller {
  const [kind = "", name = "", issuer]: readonly string[] = JSON.parse(id);
  return { kind, name, issuer };
}

/** A model by the name that clients use, and attributes that the configuration adds. */
export interface UsageDetail {
  readonly model: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Writes a model and its attributes. */
export function detailId({ model, attributes }: UsageDetail): string {
  return JSON.stringify([model, attributes]);
}

/** Reads a model and its attributes. */
export function readDetail(id: string): UsageDetail {
  const [model, attributes]: readonly [string, Readonly<Record<string, string>>] = JSON.parse(id);
  return { model, attributes };
}

/** Milliseconds of a day. */
export const DAY = 86_400_000;

/** Returns the day of a time, in UTC: `2026-11-29`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Returns the month of a day: `2026-11`. */
export function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** Returns when a day or a month ends, in milliseconds since the epoch. */
export function endOfPeriod(period: string): number {
  if (period.length > 7) return Date.parse(period) + DAY;
  const [year = 0, month = 0] = period.split("-").map(Number);
  return Date.UTC(year, month);
}
