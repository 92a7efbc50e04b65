import { pathSegment } from "../../http/routing/path-segment.ts";
import { longNumberText } from "../../json/exact-json.ts";
import type { OpenApiTool, QueryStyle } from "./openapi-tool.ts";

/** A request to an API, or why there is none. */
export type OpenApiRequest =
  | {
      readonly kind: "request";
      /** Below the path of the server, with the query. */
      readonly path: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: string | null;
    }
  | { readonly kind: "problem"; readonly problem: string };

/** The request that a call of a tool stands for; its arguments keep to the tool's schema. */
export function openApiRequest(tool: OpenApiTool, given: unknown): OpenApiRequest {
  const { path: segments, query, header, body } = membersOf(given);
  const path = pathOf(tool.path, membersOf(segments));
  if (path === undefined) {
    return {
      kind: "problem",
      problem: 'a value of "path" is empty or more than a segment of a path',
    };
  }
  const headers = Object.entries(membersOf(header)).map(
    ([name, value]) => [name.toLowerCase(), valuesOf(value).join(",")] as const,
  );
  if (headers.some(([, text]) => !HEADER_TEXT.test(text))) {
    return { kind: "problem", problem: 'a value of "header" can\'t stand in a header' };
  }
  const search = searchOf(membersOf(query), tool.queryStyles);
  if (search === undefined) {
    return { kind: "problem", problem: 'a value of "query" is no Unicode text' };
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

/** Undefined: a value would make it the path of something else. */
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

/** What many servers decode before they look for segments. */
const SEPARATOR = /[/\\]|%2f|%5c/i;

/** Undefined: a text can't be encoded. */
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

/** The parameters of the query that a value stands for. */
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

/** What a value is written as, in a row: items, or members with their names before them (OpenAPI, `simple`). */
function valuesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(plainText);
  return isObject(value)
    ? Object.entries(value).flatMap(([key, each]) => [key, plainText(each)])
    : [plainText(value)];
}

/** A number that is too long for one is none. */
function isObject(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    longNumberText(value) === undefined
  );
}

/** A scalar as it is written in a path, a query or a header; anything else as JSON. */
function plainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
