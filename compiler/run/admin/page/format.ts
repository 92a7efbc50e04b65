const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Formats a number: `1,234`, `12.3K`. */
export function count(value: number): string {
  return Math.abs(value) < 10_000 ? WHOLE.format(value) : COMPACT.format(value);
}

/** Formats a number with up to two digits after the point: `0.25`, `12`. */
export function decimal(value: number): string {
  if (value === 0) return "0";
  return value < 10 ? String(Number(value.toPrecision(2))) : count(value);
}

/** Formats milliseconds: `0.4 ms`, `120 ms`, `1.5 s`. */
export function duration(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 60_000) return `${(value / 1000).toFixed(1)} s`;
  return `${Math.floor(value / 60_000)} min`;
}

/** Formats US dollars: `$0`, `$0.0021`, `$0.025`, `$12.30`. */
export function dollars(value: number): string {
  if (value === 0) return "$0";
  if (value < 0.1) return `$${Number(value.toPrecision(2))}`;
  return value < 1000 ? `$${value.toFixed(2)}` : `$${COMPACT.format(value)}`;
}

/** Formats a share: `0 %`, `1.2 %`. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "0 %";
  const value = (100 * part) / whole;
  return `${value === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} %`;
}

/** Formats a time of day: `14:05:09`. */
export function clock(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** Formats a time of day without seconds. */
export function minute(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** Formats a day and a time: `29 Nov 2026, 14:05`. */
export function dayAndTime(at: number): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** Formats how long ago a time is: `12 s`, `5 min`, `3 h`, `2 days`. */
export function age(at: number, now: number): string {
  return span(Math.max(0, now - at));
}

/** Formats a span in its largest unit. */
export function span(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? "1 day" : `${days} days`;
}

/** Formats a number of things: `1 route`, `2 routes`. */
export function amount(value: number, what: string, several = `${what}s`): string {
  return `${count(value)} ${value === 1 ? what : several}`;
}

/** Joins the facts that are there with middle dots. */
export function joined(facts: readonly (string | null | undefined)[]): string {
  return facts.filter((each) => each !== undefined && each !== null && each !== "").join(" · ");
}

/** Characters that change the order of text or are not visible; they would mislead the reader. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Escapes hidden characters of a text that others chose: `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}
