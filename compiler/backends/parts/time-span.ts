import { parseDuration, parseTimer } from "../../schema/duration.ts";
import { type Schema, text } from "../../schema/schema.ts";
import type { ExpectedResult, ExpressionConfig } from "./expressions.ts";

/** A time span, as configured: milliseconds, or an expression that is evaluated for each request. */
export type TimeSpanConfig = number | ExpressionConfig;

/** Returns the schema of a field that takes a duration or an expression. */
export function timeSpanSchema(description: string): Schema<string> {
  return text(description, { maxLength: 16384 });
}

/** Reads a validated field of that schema. */
export function lowerTimeSpan(written: string, origin: ExpressionConfig["origin"]): TimeSpanConfig {
  return parseDuration(written) === undefined
    ? { text: written, origin }
    : (parseTimer(written) ?? 0);
}

/** Returns the requirements on an expression whose result is a time span: a duration or one of the other types. */
export function timeSpanResult(expected: string, otherTypes: readonly string[]): ExpectedResult {
  const types = ["duration", ...otherTypes];
  return { expected, isOfType: (type) => types.includes(type) };
}
