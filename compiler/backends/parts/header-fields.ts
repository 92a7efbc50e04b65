import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { HeaderField } from "../../model/header-changes.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { Text } from "../../model/texts.ts";
import { anyText, map, text } from "../../schema/schema.ts";
import { checkLiteral } from "./literal-templates.ts";

/** A token (RFC 9110 5.6.2), such as a header name or a method. */
export const TOKEN_PATTERN = "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$";

/** The specification's HeaderName, without pseudo-headers. */
export const headerNameSchema = text("A header name.", {
  maxLength: 256,
  pattern: TOKEN_PATTERN,
});

/** Schema of a header's value: characters that are valid on the wire (RFC 9110 5.5), or `${NAME}`. */
const headerValueSchema = anyText({
  maxLength: 4096,
  pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]*$",
  form: "a single line of Latin-1 characters",
  readAtStart: true,
  description: "Value of the header.",
});

/** Returns the schema of a map of header names to values. */
export function headerMapSchema(description: string) {
  return map(headerValueSchema, {
    maxProperties: 64,
    minProperties: 1,
    examples: [{ "x-team": "blue" }],
    description,
  });
}

/** Reads the fields of a validated map, in order. */
export function readHeaders(
  value: Readonly<Record<string, Text>> | undefined,
  origin: Origin,
): readonly HeaderField[] {
  return Object.entries(value ?? {}).map(([name, each]) => {
    const at = childOf(origin, name);
    return { name, value: each, origin: at, valueOrigin: at };
  });
}

const TOKEN = new RegExp(TOKEN_PATTERN);

/** Whether a string is a valid header name (RFC 9110 5.1). */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Whether policies may set a header of this name; otherwise reports it. */
export function checkHeaderName(
  name: string,
  origin: Origin,
  { diagnostics }: Pick<SecretContext, "diagnostics">,
): boolean {
  const isToken = isHeaderName(name);
  if (!isToken) {
    const expected = 'a header name such as "x-team"';
    diagnostics.report("bad-format", keyPlace(origin), { field: `"${name}"`, expected });
  } else if (CONNECTION_HEADERS.has(name.toLowerCase())) {
    diagnostics.report("connection-header", keyPlace(origin), { name });
    return false;
  }
  return isToken;
}

/**
 * Resolves a field to set, without literal credentials; returns `undefined` if policies may not set it (reported).
 */
export function resolveHeader(field: HeaderField, context: SecretContext): HeaderField | undefined {
  const { name, value, origin, valueOrigin } = field;
  if (!checkHeaderName(name, origin, context)) return undefined;
  checkLiteral(value, "header", valueOrigin, context.diagnostics);
  if (!SECRET_HEADER.test(name)) return field;
  return { ...field, value: withoutLiteral(value, valueOrigin, { field: `"${name}"` }, context) };
}

/** Headers that carry credentials by convention. */
const SECRET_HEADER = /^(authorization|cookie)$|api-?key|secret|token$|password/i;

/** Headers that belong to one connection (RFC 9110 7.6.1), and Host, which has its own policies. */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
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
