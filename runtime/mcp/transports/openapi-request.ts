import { pathSegment } from "../../http/routing/path-segment.ts";
import { longNumberText } from "../../json/exact-json.ts";
import type { OpenApiTool, QueryStyle } from "./openapi-tool.ts";

/** A request to an API, or why it cannot be built. */
export type OpenApiRequest =
  | {
      readonly kind: "request";
      /** Relative to the path of the server, including the query. */
      readonly path: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: string | null;
    }
  | { readonly kind: "problem"; readonly problem: string };

/** Builds the request of a tool call whose arguments match the tool's schema. */
export function openApiRequest(tool: OpenApiTool, given: unknown): OpenApiRequest {
  const { path: segments, query, header, body } = membersOf(given);
  const path = pathOf(tool.path, membersOf(segments));
  if (path === undefined) {
    return {
      kind: "problem",
      problem: 'a value of "path" is empty or contains a path separator',
    };
  }
  const headers = Object.entries(membersOf(header)).map(
    ([name, value]) => [name.toLowerCase(), valuesOf(value).join(",")] as const,
  );
  if (headers.some(([, text]) => !HEADER_TEXT.test(text))) {
    return {
      kind: "problem",
      problem: 'a value of "header" contains characters that headers do not allow',
    };
  }
  const search = searchOf(membersOf(query), tool.queryStyles);
  if (search === undefined) {
    return { kind: "problem", problem: 'a value of "query" is not well-formed Unicode' };
  }
  return {
    kind: "request",
    path: search === "" ? path : `${path}?${search}`,
    headers: body === undefined ? headers : [...headers, ["content-type", "application/json"]],
    body: body === undefined ? null : JSON.stringify(body),
  };
}

/** Visible characters, spaces and tabs (RFC 9110 5.5). */
export const HEADER_TEXT: RegExp = /^[\t\x20-\x7e]*$/;

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** Returns `undefined` if a value would change the structure of the path. */
function pathOf(template: string, given: Readonly<Record<string, unknown>>): string | undefined {
  let isPlain = true;
  const path = template.replace(/\{([^}]+)\}/g, (_whole, name: string) => {
    const values = Object.hasOwn(given, name) ? valuesOf(given[name]) : [];
    const segments = values.map((text) => (SEPARATOR.test(text) ? undefined : pathSegment(text)));
    isPlain &&= values.length > 0 && !segments.includes(undefined);
    return segments.join(",");
  });
  return isPlain ? path : undefined;
}

/** Separators that many servers decode before they split the path. */
const SEPARATOR = /[/\\]|%2f|%5c/i;

/** Returns `undefined` if a string cannot be encoded. */
function searchOf(
  given: Readonly<Record<string, unknown>>,
  styles: OpenApiTool["queryStyles"] = {},
): string | undefined {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    pairsOf(name, value, Object.hasOwn(styles, name) ? styles[name] : undefined),
  );
  if (!pairs.flat().every((text) => text.isWellFormed())) return undefined;
  return pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
}

type Pair = readonly [name: string, value: string];

/** Returns the query parameters of a value. */
function pairsOf(name: string, value: unknown, style: QueryStyle | undefined): readonly Pair[] {
  if (style !== undefined && style !== "brackets") {
    return [[name, valuesOf(value).join(separators[style])]];
  }
  if (!isObject(value)) return valuesOf(value).map((text) => [name, text]);
  return Object.entries(value).map(([key, each]) => [
    style === "brackets" ? `${name}[${key}]` : key,
    plainText(each),
  ]);
}

const separators = { commas: ",", pipes: "|", spaces: " " };

/** Returns the strings of a value in order: items, or member names and values (OpenAPI, `simple`). */
function valuesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(plainText);
  return isObject(value)
    ? Object.entries(value).flatMap(([key, each]) => [key, plainText(each)])
    : [plainText(value)];
}

/** Whether a value is an object. Numbers too long for a double are represented as objects but are numbers. */
function isObject(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    longNumberText(value) === undefined
  );
}

/** Formats a scalar for a path, a query or a header; anything else as JSON. */
function plainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
