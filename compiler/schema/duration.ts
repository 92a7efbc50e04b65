const UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000001,
};

/**
 * Parses a duration into milliseconds; `undefined` if it is not a duration. Manifests use the Gateway API format
 * (GEP-2257: `1h30m`, `500ms`); files also accept Go's fractions and small units (`1.5s`). Never negative.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^([0-9]+(\.[0-9]*)?(h|ms|m|s|us|µs|ns))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)(h|ms|m|s|us|µs|ns)/g)) {
    total += Number(amount) * (UNITS[unit ?? ""] ?? Number.NaN);
  }
  return Number.isFinite(total) ? total : undefined;
}

/**
 * Maximum of a timer in milliseconds. Node.js timers have 31 bits, to which it adds a second of its own; a longer timer
 * fires at once.
 */
const MAX_TIMER = 2_147_000_000;

/** Parses a duration for a timer, limited to 24 days: no request or connection waits longer than that. */
export function parseTimer(text: string): number | undefined {
  const milliseconds = parseDuration(text);
  return milliseconds === undefined ? undefined : Math.min(milliseconds, MAX_TIMER);
}
