import { type Exchange, logFields } from "../../http/exchange.ts";
import { GuardMetrics } from "./guard-metrics.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep } from "./prompt-guard.ts";

/** Counts and logs what each guard did, but never what it found. */
export function recordGuards(
  { record, gateway }: Exchange,
  steps: readonly GuardStep[],
  run: GuardRun,
): void {
  const notes: string[] = [];
  let total = 0;
  for (const counts of gateway.metrics.part(GuardMetrics).of(steps, run.phase)) {
    const outcome = run.outcomes.get(counts.guard);
    const { action = "pass", matches = 0, milliseconds } = outcome ?? {};
    counts.did(action);
    if (milliseconds !== undefined) counts.took(milliseconds);
    total += matches;
    if (outcome === undefined) continue;
    const time = milliseconds === undefined ? "" : `:${tenths(milliseconds)}ms`;
    notes.push(`${counts.name}:${action}${matches === 0 ? "" : `:${matches}`}${time}`);
  }
  if (notes.length === 0) return;
  const fields = logFields(record).set(`guard.${run.phase}`, notes.join(" "));
  if (total > 0) fields.set(`guard.${run.phase}.matches`, String(total));
}

/** Formats a positive number with one digit after the point, which `toFixed` does in five times the time. */
function tenths(value: number): string {
  const rounded = Math.round(value * 10);
  return `${Math.floor(rounded / 10)}.${rounded % 10}`;
}
