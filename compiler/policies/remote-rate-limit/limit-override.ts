import { type ExpressionConfig, reportWrongResult } from "../../backends/parts/expressions.ts";
import type { WrittenEntry, WrittenMap } from "../../cel/check/written-maps.ts";
import { writtenMapsOf } from "../../cel/compile.ts";
import type { LiteralValue } from "../../cel/parse/ast.ts";
import type { Diagnostics } from "../../diagnostics/diagnostic.ts";

const FIELDS = ["unit", "requestsPerUnit"];
const UNITS = ["second", "minute", "hour", "day", "month", "year"];
const MAX_REQUESTS = 0xffff_ffff;

const NUMBERS = ["int", "uint", "double", "dyn"];

/** Whether the limits written literally in an expression are valid; reports those that are not. */
export function checkWrittenLimits(
  { text, origin }: ExpressionConfig,
  diagnostics: Diagnostics,
): boolean {
  const maps = writtenMapsOf(text, "request");
  // Among several maps, an empty one selects the service's own limit.
  const limits = maps.length === 1 ? maps : maps.filter(({ entries }) => entries.length > 0);
  const mistakes = limits.flatMap(mistakesOf);
  for (const { within, expected, is } of mistakes)
    reportWrongResult({ ...origin, within }, expected, is, diagnostics);
  return mistakes.length === 0;
}

interface Mistake {
  readonly within: readonly [number, number];
  readonly expected: string;
  readonly is: string;
}

function mistakesOf({ span, entries }: WrittenMap): readonly Mistake[] {
  const wrong = entries.flatMap((entry) => mistakeOf(entry) ?? []);
  // A key that is computed per request may be any key.
  if (wrong.length > 0 || entries.some(({ key }) => key === undefined)) return wrong;
  const missing = FIELDS.filter((field) => !entries.some(({ key }) => textOf(key) === field));
  const [first] = missing;
  if (first === undefined) return [];
  const is = `a map without "${missing.join('" and "')}"`;
  return [{ within: span, expected: 'a limit with "unit" and "requestsPerUnit"', is }];
}

function mistakeOf(entry: WrittenEntry): Mistake | undefined {
  const { key, keySpan, value, type, valueSpan } = entry;
  if (key === undefined) return undefined;
  const wrong = (expected: string): Mistake => ({
    within: valueSpan,
    expected,
    is: value === undefined ? `of type ${type}` : shown(value),
  });
  switch (textOf(key)) {
    case "unit": {
      const isUnit = value === undefined ? ["string", "dyn"].includes(type) : isUnitName(value);
      return isUnit ? undefined : wrong(`one of ${UNITS.join(", ")}`);
    }
    case "requestsPerUnit": {
      const isCount = value === undefined ? NUMBERS.includes(type) : isCountOf(value);
      return isCount ? undefined : wrong(`a whole number from 0 to ${MAX_REQUESTS}`);
    }
    default:
      return { within: keySpan, expected: '"unit" or "requestsPerUnit"', is: shown(key) };
  }
}

function isUnitName(value: LiteralValue): boolean {
  return UNITS.includes(textOf(value)?.toLowerCase() ?? "");
}

function isCountOf(value: LiteralValue): boolean {
  if (value.kind !== "int" && value.kind !== "uint" && value.kind !== "double") return false;
  const count = Number(value.value);
  return Number.isInteger(count) && count >= 0 && count <= MAX_REQUESTS;
}

function textOf(value: LiteralValue | undefined): string | undefined {
  return value?.kind === "string" ? value.value : undefined;
}

function shown(value: LiteralValue): string {
  switch (value.kind) {
    case "null":
      return "null";
    case "string":
      return JSON.stringify(value.value);
    case "bytes":
      return "of type bytes";
    default:
      return String(value.value);
  }
}
