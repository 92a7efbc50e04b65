import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Figures, OTHER_SERIES } from "../../compiler/run/figures/figures.ts";
import { Latencies } from "../../compiler/run/figures/latencies.ts";
import type { JournalEntry } from "../../compiler/run/journal-entry.ts";

const START = Date.parse("2026-11-29T10:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});

afterEach(() => {
  vi.useRealTimers();
});

function entry(more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    ...{ id: 1, at: new Date(), client: "127.0.0.1:1", method: "GET", host: "a", path: "/" },
    ...{ listener: "web", route: "api", status: 200, caller: undefined, traceId: undefined },
    ...{ reason: undefined, upstream: undefined, duration: 10, notes: [] },
    ...more,
  };
}

describe("figures of the admin page", () => {
  it("count requests, errors, tokens and costs of each interval", () => {
    const figures = new Figures();
    figures.add(entry(), false);
    figures.add(entry({ status: 404 }), false);
    vi.advanceTimersByTime(60_000);
    figures.add(entry({ status: 502 }), false);
    const notes = [
      ["gen_ai.request.model", "gpt-5"],
      ["gen_ai.usage.input_tokens", "20"],
      ["gen_ai.usage.output_tokens", "5"],
      ["gen_ai.cost", "0.25"],
    ] as const;
    figures.add(entry({ route: "models", notes }), false);
    const { points, total, rows, step } = figures.report("15m");
    expect(step * points.length).toBe(15 * 60_000);
    expect(points.at(-5)).toMatchObject({ requests: 2, rejected: 1, failed: 0 });
    expect(points.at(-1)).toMatchObject({ requests: 2, failed: 1, inputTokens: 20, cost: 0.25 });
    expect(total).toMatchObject({ requests: 4, rejected: 1, failed: 1, outputTokens: 5 });
    expect(rows.route.map(({ name, requests }) => [name, requests])).toEqual([
      ["api", 3],
      ["models", 1],
    ]);
    const [model] = figures.report("15m", { kind: "model", name: "gpt-5" }).points.slice(-1);
    expect(model).toMatchObject({ requests: 1, failed: 0 });
  });

  it("forget what is older than the period, and than a day", () => {
    const figures = new Figures();
    figures.add(entry(), false);
    vi.advanceTimersByTime(20 * 60_000);
    expect(figures.report("15m").total.requests).toBe(0);
    expect(figures.report("1h").total.requests).toBe(1);
    vi.advanceTimersByTime(2 * 3_600_000);
    expect(figures.report("1h").total.requests).toBe(0);
    expect(figures.report("24h").total.requests).toBe(1);
    vi.advanceTimersByTime(25 * 3_600_000);
    expect(figures.report("24h").total.requests).toBe(0);
  });

  it("give no series to names that clients invent", () => {
    const figures = new Figures();
    const call = (model: string, status: number) =>
      figures.add(entry({ status, notes: [["gen_ai.request.model", model]] }), false);
    call("gpt-5", 200);
    for (let index = 0; index < 1000; index++) call(`invented-${index}`, 404);
    call("gpt-5", 429);
    const { model } = figures.report("15m").rows;
    expect(model.map(({ name, requests }) => [name, requests])).toEqual([
      [OTHER_SERIES, 1000],
      ["gpt-5", 2],
    ]);
  });

  it("have a bounded number of series, even for names that exist", () => {
    const figures = new Figures();
    for (let index = 0; index < 500; index++)
      figures.add(entry({ notes: [["gen_ai.tool.name", `tool-${index}`]] }), false);
    const { tool } = figures.report("15m").rows;
    expect(tool.length).toBe(41);
    expect(tool.reduce((sum, { requests }) => sum + requests, 0)).toBe(500);
  });

  it("do not count streams as latency", () => {
    const figures = new Figures();
    figures.add(entry({ duration: 3_600_000 }), true);
    expect(figures.report("15m").total).toMatchObject({ requests: 1, p50: null, p99: null });
  });
});

describe("latencies", () => {
  it("estimate quantiles within a fifth", () => {
    const latencies = new Latencies();
    for (let index = 1; index <= 1000; index++) latencies.add(index);
    for (const share of [0.5, 0.95, 0.99]) {
      const quantile = latencies.quantile(share) ?? 0;
      expect(Math.abs(quantile - 1000 * share)).toBeLessThan(200 * share);
    }
  });

  it("count durations beyond the last bucket there", () => {
    const latencies = new Latencies();
    latencies.add(10 ** 9);
    expect(latencies.quantile(0.5)).toBeGreaterThan(300_000);
  });
});
