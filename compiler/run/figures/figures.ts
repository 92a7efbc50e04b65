import type { FigureKind, FigureRange, FigureReport, FigureRow } from "../admin/api/admin-api.ts";
import type { JournalEntry } from "../journal-entry.ts";
import { type FiguredRequest, FigureRing, FigureSums } from "./figure-ring.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Two resolutions: an hour and a day. */
const FINE = { interval: 15 * SECOND, size: 240 } as const;
const COARSE = { interval: 15 * MINUTE, size: 97 } as const;

const RANGES = {
  "15m": { ring: "fine", count: 60 },
  "1h": { ring: "fine", count: 240 },
  "24h": { ring: "coarse", count: 97 },
} as const;

/** Maximum number of series of a kind; requests of further names are added up as `OTHER`. */
const MAX_SERIES = 40;

/** Name of the series of everything beyond `MAX_SERIES`. */
export const OTHER_SERIES = "(other)";

const TREND = 30;

interface Series {
  readonly fine: FigureRing;
  readonly coarse: FigureRing;
}

/**
 * Figures of the last day by route, tool and model, in bounded memory. Clients choose names of tools and models, so a name
 * gets a series only when a request with it was successful.
 */
export class Figures {
  readonly #all = newSeries();
  readonly #kinds: Readonly<Record<FigureKind, Map<string, Series>>> = {
    route: new Map(),
    tool: new Map(),
    model: new Map(),
  };

  /** Counts a finished request. */
  add(entry: JournalEntry, isStream: boolean): void {
    const notes = new Map(entry.notes);
    const request: FiguredRequest = {
      status: entry.status,
      latency: isStream ? undefined : entry.duration,
      inputTokens: amountOf(notes.get("gen_ai.usage.input_tokens")),
      outputTokens: amountOf(notes.get("gen_ai.usage.output_tokens")),
      cost: amountOf(notes.get("gen_ai.cost")),
    };
    const now = Date.now();
    addTo(this.#all, now, request);
    if (entry.route !== undefined) this.#count("route", entry.route, true, now, request);
    const isGood = entry.status !== undefined && entry.status < 400 && entry.reason === undefined;
    const tool = notes.get("gen_ai.tool.name");
    if (tool !== undefined) {
      const target = notes.get("mcp.target");
      const name = target === undefined ? tool : `${target} / ${tool}`;
      this.#count("tool", name, isGood && !notes.has("error"), now, request);
    }
    const model = notes.get("gen_ai.request.model");
    if (model !== undefined) this.#count("model", model, isGood, now, request);
  }

  /** Returns the figures of a period; the points are those of one series, or of all requests. */
  report(
    range: FigureRange,
    of?: { readonly kind: FigureKind; readonly name: string },
  ): FigureReport {
    const now = Date.now();
    const { ring, count } = RANGES[range];
    const { interval } = ring === "fine" ? FINE : COARSE;
    const read = (series: Series) => series[ring].last(count, now);
    const shown = of === undefined ? this.#all : this.#kinds[of.kind].get(of.name);
    const slots = shown === undefined ? [] : read(shown);
    const newest = Math.floor(now / interval);
    const rows = (kind: FigureKind) =>
      Array.from(this.#kinds[kind], ([name, series]) => rowOf(name, read(series)))
        .filter(({ requests }) => requests > 0)
        .toSorted((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1));
    return {
      now,
      step: interval,
      points: slots.map((sums, index) => ({
        at: (newest - slots.length + 1 + index) * interval,
        ...figuresOf(sums ?? new FigureSums()),
      })),
      total: rowOf("", read(this.#all)),
      rows: { route: rows("route"), tool: rows("tool"), model: rows("model") },
    };
  }

  #count(
    kind: FigureKind,
    name: string,
    mayCreate: boolean,
    now: number,
    request: FiguredRequest,
  ): void {
    const all = this.#kinds[kind];
    const isKnown = all.has(name) || (mayCreate && all.size < MAX_SERIES);
    const key = isKnown ? name : OTHER_SERIES;
    const series = all.get(key) ?? newSeries();
    all.set(key, series);
    addTo(series, now, request);
  }
}

function newSeries(): Series {
  return {
    fine: new FigureRing(FINE.interval, FINE.size),
    coarse: new FigureRing(COARSE.interval, COARSE.size),
  };
}

function addTo({ fine, coarse }: Series, now: number, request: FiguredRequest): void {
  fine.add(now, request);
  coarse.add(now, request);
}

function rowOf(name: string, slots: readonly (FigureSums | undefined)[]): FigureRow {
  const sums = new FigureSums();
  const trend: number[] = Array.from({ length: TREND }, () => 0);
  for (const [index, slot] of slots.entries()) {
    if (slot === undefined) continue;
    sums.addAll(slot);
    const at = Math.min(TREND - 1, Math.floor((index * TREND) / slots.length));
    trend[at] = (trend[at] ?? 0) + slot.requests;
  }
  return { name, ...figuresOf(sums), trend };
}

function figuresOf(sums: FigureSums): Omit<FigureRow, "name" | "trend"> {
  const { requests, rejected, failed, inputTokens, outputTokens, cost, latencies } = sums;
  const [p50 = null, p95 = null, p99 = null] = [0.5, 0.95, 0.99].map((share) =>
    latencies.quantile(share),
  );
  return { requests, rejected, failed, p50, p95, p99, inputTokens, outputTokens, cost };
}

function amountOf(text: string | undefined): number {
  const value = Number(text ?? 0);
  return Number.isFinite(value) ? value : 0;
}
