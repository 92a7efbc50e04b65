import { pathSegment } from "../../http/routing/path-segment.ts";
import { longNumberText } from "../../json/exact-json.ts";
import type { OpenApiTool } from "./openapi-tool.ts";

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
    ([name, value]) => [name.toLowerCase(), [value].flat().map(plainText).join(",")] as const,
  );
  if (headers.some(([, text]) => !headerText.test(text))) {
    return { kind: "problem", problem: 'a value of "header" can\'t stand in a header' };
  }
  const search = searchOf(membersOf(query), tool.joined);
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
const headerText = /^[\t\x20-\x7e]*$/;

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** Undefined: a value would make it the path of something else. */
function pathOf(template: string, values: Readonly<Record<string, unknown>>): string | undefined {
  let isPlain = true;
  const path = template.replace(/\{([^}]+)\}/g, (_whole, name: string) => {
    const text = Object.hasOwn(values, name) ? plainText(values[name]) : "";
    const segment = separator.test(text) ? undefined : pathSegment(text);
    isPlain &&= segment !== undefined;
    return segment ?? "";
  });
  return isPlain ? path : undefined;
}

/** What many servers decode before they look for segments. */
const separator = /[/\\]|%2f|%5c/i;

/**
 * Lists are repeated (`form`, exploded: OpenAPI's own way) or joined; the members of an object stand in brackets. Undefined:
 * a text can't be encoded.
 */
function searchOf(
  values: Readonly<Record<string, unknown>>,
  joined: readonly string[],
): string | undefined {
  const pairs = Object.entries(values).flatMap(([name, value]): readonly string[][] => {
    if (Array.isArray(value)) {
      const texts = value.map(plainText);
      return joined.includes(name) ? [[name, texts.join(",")]] : texts.map((text) => [name, text]);
    }
    if (typeof value === "object" && value !== null && longNumberText(value) === undefined)
      return Object.entries(value).map(([key, each]) => [`${name}[${key}]`, plainText(each)]);
    return [[name, plainText(value)]];
  });
  if (!pairs.flat().every((text) => text.isWellFormed())) return undefined;
  return pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
}

/** A scalar as it is written in a path, a query or a header; anything else as JSON. */
function plainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
