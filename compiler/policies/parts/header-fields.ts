import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Text } from "../../model/texts.ts";
import { anyText, map, text } from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";

/** HeaderName of the specification, without pseudo headers: a token (RFC 9110 5.6.2). */
export const headerNameSchema = text("A header name.", {
  maxLength: 256,
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$",
});

/** A header's value: what can stand on the wire (RFC 9110 5.5), or `${NAME}`. */
export const headerValueSchema = anyText({
  maxLength: 4096,
  pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]*$",
  readAtStart: true,
  description: "Its value.",
});

/** Header names to values. */
export function headerMapSchema(description: string) {
  return map(headerValueSchema, {
    maxProperties: 64,
    minProperties: 1,
    examples: [{ "x-team": "blue" }],
    description,
  });
}

/** A header as configured. */
export interface HeaderField {
  readonly name: string;
  readonly value: Text;
  readonly origin: Origin;
}

/** The fields of a validated map, in their order. */
export function readHeaders(
  value: Readonly<Record<string, Text>> | undefined,
  origin: Origin,
): readonly HeaderField[] {
  return Object.entries(value ?? {}).map(([name, each]) => ({
    name,
    value: each,
    origin: childOf(origin, name),
  }));
}

/** Whether policies may set a header of that name; reported when they may not. */
export function checkHeaderName(
  name: string,
  origin: Origin,
  { diagnostics }: ResolveContext,
): boolean {
  const isToken = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name);
  if (!isToken) {
    const expected = 'a header name such as "x-team"';
    diagnostics.report("bad-format", { ...origin, part: "key" }, { field: `"${name}"`, expected });
  } else if (CONNECTION_HEADERS.has(name.toLowerCase())) {
    diagnostics.report("connection-header", { ...origin, part: "key" }, { name });
    return false;
  }
  return isToken;
}

/** Whether a field may be set as it is configured: its name, and no credential written out. */
export function checkHeader(
  { name, value, origin }: HeaderField,
  context: ResolveContext,
): boolean {
  if (!checkHeaderName(name, origin, context)) return false;
  if (typeof value !== "string" || value === "" || !SECRET_HEADER.test(name)) return true;
  context.diagnostics.report("literal-secret", { ...origin, part: "key" }, { field: `"${name}"` });
  return false;
}

/** What one connection owns (RFC 9110 7.6.1), and Host, which has policies of its own. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that carry credentials by convention. */
const SECRET_HEADER = /^(authorization|cookie)$|api-?key|secret|token$|password/i;
