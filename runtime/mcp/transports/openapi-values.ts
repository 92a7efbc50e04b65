import { longNumberText } from "../../json/exact-json.ts";
import type { ParameterStyle, ParameterStyles } from "./openapi-tool.ts";

/** Returns the members of an object; none for other values. */
export function argumentsIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/**
 * Writes values for a query or a form (`application/x-www-form-urlencoded`); null stands for no value. Returns `undefined`
 * if a string cannot be encoded.
 */
export function formText(
  given: Readonly<Record<string, unknown>>,
  styles: ParameterStyles = {},
): string | undefined {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === null ? [] : pairsOf(name, value, styleOf(name, styles)),
  );
  if (!pairs.flat().every((text) => text.isWellFormed())) return undefined;
  return pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
}

/** Returns the style of a parameter, if it has another one than OpenAPI's default. */
export function styleOf(name: string, styles: ParameterStyles = {}): ParameterStyle | undefined {
  return Object.hasOwn(styles, name) ? styles[name] : undefined;
}

type Pair = readonly [name: string, value: string];

/** Returns the parameters of a value. */
function pairsOf(name: string, value: unknown, style: ParameterStyle | undefined): readonly Pair[] {
  if (style === "json") return [[name, JSON.stringify(value)]];
  if (style !== undefined && style !== "brackets") {
    return [[name, valuesOf(value).join(separators[style])]];
  }
  if (!isObjectArgument(value)) return valuesOf(value).map((text) => [name, text]);
  return Object.entries(value).map(([key, each]) => [
    style === "brackets" ? `${name}[${key}]` : key,
    argumentText(each),
  ]);
}

const separators = { commas: ",", pipes: "|", spaces: " " };

/** Returns the strings of a value in order: items, or member names and values (OpenAPI, `simple`); none for null. */
export function valuesOf(value: unknown, style?: ParameterStyle): readonly string[] {
  if (value === null) return [];
  if (style === "json") return [JSON.stringify(value)];
  if (Array.isArray(value)) return value.map(argumentText);
  return isObjectArgument(value)
    ? Object.entries(value).flatMap(([key, each]) => [key, argumentText(each)])
    : [argumentText(value)];
}

/** Whether a value is an object. Numbers too long for a double are represented as objects but are numbers. */
export function isObjectArgument(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    longNumberText(value) === undefined
  );
}

/** Formats a scalar for a path, a query or a header; anything else as JSON. */
export function argumentText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
