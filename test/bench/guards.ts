import { matchBounds } from "../../compiler/cel/regex/match-bounds.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import * as named from "../../runtime/llm/guards/named-patterns.ts";
import {
  type GuardPattern,
  guardPattern,
  maskPatterns,
} from "../../runtime/llm/guards/pattern-guard.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";
import { hostilePatterns } from "../llm/hostile-patterns.ts";

/** Measures guards by patterns. */
export interface GuardCosts {
  /** CPU of five patterns by name over a chat of 2 KB, as a multiple of parsing and writing its JSON. */
  readonly named: number;
  /** The same in microseconds. */
  readonly microseconds: number;
  /** CPU of each hostile pattern over 100 KB in milliseconds, and as a multiple of its tenfold over 10 KB: 1 is linear. */
  readonly hostile: readonly {
    readonly pattern: string;
    readonly milliseconds: number;
    readonly growth: number;
  }[];
}

/** The most milliseconds of CPU of a hostile pattern over 100 KB. */
export const HOSTILE_PATTERN = 10;

/** How much faster than linear a tenfold text may grow, noise included. */
export const GUARD_GROWTH = 2;

/** Measures patterns alone, without a connection. */
export function measureGuards(): GuardCosts {
  const prose = "The quick brown fox, number 17 of 2026, jumps over the lazy dog. ".repeat(32);
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: prose }] });
  const all = [named.ssn(), named.creditCard(), named.phoneNumber(), named.email(), named.caSin()];
  const guarded = cost(() => replaced(all, prose), 2_000);
  const parsed = cost(() => JSON.stringify(JSON.parse(body)), 2_000);
  return {
    named: guarded / parsed,
    microseconds: guarded * 1_000,
    hostile: hostilePatterns.map(([pattern, ...units]) => {
      const guard = guardPattern(pattern, matchBounds(pattern).longest ?? 1_024);
      const costs = units.map((unit) => {
        const of = (length: number) => `${unit.repeat(length / unit.length)}!`;
        const [short, long] = [of(10_000), of(100_000)];
        const few = cost(() => replaced([guard], short), 10);
        const milliseconds = cost(() => replaced([guard], long), 3);
        return { milliseconds, growth: milliseconds / Math.max(few * 10, 0.1) };
      });
      const worst = (of: keyof (typeof costs)[number]) =>
        Math.max(...costs.map((each) => each[of]));
      return { pattern, milliseconds: worst("milliseconds"), growth: worst("growth") };
    }),
  };
}

function replaced(patterns: readonly GuardPattern[], text: string): string {
  const run = new GuardRun("request");
  const texts = new PatternTexts([maskPatterns(patterns)], run);
  return texts.replace(text, { role: "user", part: "messages" });
}

/** The least milliseconds of CPU of several rounds, when the code is compiled. */
function cost(work: () => unknown, count: number): number {
  const rounds = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage();
    for (let i = 0; i < count; i++) work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000 / count;
  });
  return Math.min(...rounds);
}
