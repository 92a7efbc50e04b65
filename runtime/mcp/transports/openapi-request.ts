import { pathSegment } from "../../http/routing/path-segment.ts";
import { writeBody } from "./openapi-body.ts";
import type { OpenApiTool, ParameterStyles } from "./openapi-tool.ts";
import { argumentsIn, formText, styleOf, valuesOf } from "./openapi-values.ts";

/** A request to an API, or why it cannot be built. */
export type OpenApiRequest =
  | {
      readonly kind: "request";
      /** Relative to the path of the server, including the query. */
      readonly path: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: string | Uint8Array | null;
    }
  | { readonly kind: "problem"; readonly problem: string };

/** Builds the request of a tool call whose arguments match the tool's schema. */
export function openApiRequest(tool: OpenApiTool, given: unknown): OpenApiRequest {
  const { path: segments, query, header, cookie, body } = argumentsIn(given);
  const { styles = {} } = tool;
  const path = pathOf(tool.path, argumentsIn(segments), styles.path);
  if (path === undefined) return problem('a value of "path" is empty or contains a path separator');
  const headers = headersOf(argumentsIn(header), styles.header);
  if (headers === undefined)
    return problem('a value of "header" contains characters that headers do not allow');
  const search = formText(argumentsIn(query), styles.query);
  if (search === undefined) return problem('a value of "query" is not well-formed Unicode');
  const cookies = cookiesOf(argumentsIn(cookie), styles.cookie);
  if (cookies === undefined) return problem('a value of "cookie" is not well-formed Unicode');
  const written = body === undefined ? undefined : writeBody(tool.body, body);
  if (written?.kind === "problem") return written;
  return {
    kind: "request",
    path: search === "" ? path : `${path}?${search}`,
    headers: [
      ...headers,
      ...(cookies === "" ? [] : [["cookie", cookies] as const]),
      ...(written === undefined ? [] : [["content-type", written.type] as const]),
    ],
    body: written?.body ?? null,
  };
}

function problem(text: string): OpenApiRequest {
  return { kind: "problem", problem: text };
}

/** Returns `undefined` if a value contains characters that headers do not allow. */
function headersOf(
  given: Readonly<Record<string, unknown>>,
  styles: ParameterStyles | undefined,
): readonly (readonly [name: string, value: string])[] | undefined {
  const headers = Object.entries(given).flatMap(([name, value]) => {
    if (value === null) return [];
    const style = styleOf(name, styles);
    const text = valuesOf(value, style).join(",");
    return [[name.toLowerCase(), style === "json" ? asciiJson(text) : text] as const];
  });
  return headers.every(([, text]) => HEADER_TEXT.test(text)) ? headers : undefined;
}

/** Escapes what is not ASCII, which JSON has in strings only. */
function asciiJson(text: string): string {
  return text.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Returns `undefined` if a string cannot be encoded. */
function cookiesOf(
  given: Readonly<Record<string, unknown>>,
  styles: ParameterStyles | undefined,
): string | undefined {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === null ? [] : [[name, valuesOf(value, styleOf(name, styles)).join(",")] as const],
  );
  if (!pairs.every(([, text]) => text.isWellFormed())) return undefined;
  return pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join("; ");
}

/** Visible characters, spaces and tabs (RFC 9110 5.5). */
export const HEADER_TEXT: RegExp = /^[\t\x20-\x7e]*$/;

/** Returns `undefined` if a value would change the structure of the path. */
function pathOf(
  template: string,
  given: Readonly<Record<string, unknown>>,
  styles: ParameterStyles | undefined,
): string | undefined {
  let isPlain = true;
  const path = template.replace(/\{([^}]+)\}/g, (_whole, name: string) => {
    const values = Object.hasOwn(given, name) ? valuesOf(given[name], styleOf(name, styles)) : [];
    const segments = values.map((text) => (SEPARATOR.test(text) ? undefined : pathSegment(text)));
    isPlain &&= values.length > 0 && !segments.includes(undefined);
    return segments.join(",");
  });
  return isPlain ? path : undefined;
}

/** Separators that many servers decode before they split the path. */
const SEPARATOR = /[/\\]|%2f|%5c/i;
