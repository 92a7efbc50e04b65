import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { HeaderField } from "../../model/header-changes.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { Text } from "../../model/texts.ts";
import { anyText, map, text } from "../../schema/schema.ts";
import { checkLiteral } from "./literal-templates.ts";

/** A token (RFC 9110 5.6.2): the name of a header, a method. */
export const TOKEN_PATTERN = "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$";

/** HeaderName of the specification, without pseudo headers. */
export const headerNameSchema = text("A header name.", {
  maxLength: 256,
  pattern: TOKEN_PATTERN,
});

/** A header's value: what can stand on the wire (RFC 9110 5.5), or `${NAME}`. */
export const headerValueSchema = anyText({
  maxLength: 4096,
  pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]*$",
  form: "a text of one line, in letters of Latin-1",
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

/** The fields of a validated map, in their order. */
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

/** Whether a text is a name of a header (RFC 9110 5.1). */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Whether policies may set a header of that name; reported when they may not. */
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

/** A field to set, without a credential that is written out; undefined when no policy may set it (reported). */
export function resolveHeader(field: HeaderField, context: SecretContext): HeaderField | undefined {
  const { name, value, origin, valueOrigin } = field;
  if (!checkHeaderName(name, origin, context)) return undefined;
  checkLiteral(value, "header", valueOrigin, context.diagnostics);
  if (!SECRET_HEADER.test(name)) return field;
  return { ...field, value: withoutLiteral(value, valueOrigin, { field: `"${name}"` }, context) };
}

/** Headers that carry credentials by convention. */
const SECRET_HEADER = /^(authorization|cookie)$|api-?key|secret|token$|password/i;

/** What one connection owns (RFC 9110 7.6.1), and Host, which has policies of its own. */
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
