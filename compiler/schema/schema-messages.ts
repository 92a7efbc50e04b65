import type { ErrorObject } from "ajv";
import type { Schema } from "./schema.ts";

/** Names the types that a schema allows: `a string or a mapping`, `a duration such as "30s"`. */
export function schemaTypeNames(schema: Schema | undefined): string {
  const types = [schema?.type ?? []].flat();
  const form = /duration/i.test(schema?.format ?? "") && FORMATS[schema?.format ?? ""];
  return types
    .map((type) => (type === "string" && form) || (TYPE_NAMES[type] ?? type))
    .join(" or ");
}

/** Names the type of a value: `a list`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a number";
  return TYPE_NAMES[typeof value] ?? typeof value;
}

/** Describes the format that a string must have. */
export function formatName(schema: Schema | undefined): string {
  return (
    schema?.form ??
    FORMATS[schema?.format ?? ""] ??
    `a string that matches ${schema?.pattern ?? ""}`
  );
}

/** Describes the limit that a value exceeds: `may have at most 16 items`. */
export function boundName({
  keyword,
  params,
  message = keyword,
}: Pick<ErrorObject, "keyword" | "params" | "message">): string {
  const { limit } = params;
  const amount = (what: string): string => `${limit} ${what}${limit === 1 ? "" : "s"}`;
  switch (keyword) {
    case "minimumDuration":
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "minLength":
      return `needs at least ${amount("character")}`;
    case "maxLength":
      return `may have at most ${amount("character")}`;
    case "minItems":
      return `needs at least ${amount("item")}`;
    case "maxItems":
      return `may have at most ${amount("item")}`;
    case "minProperties":
      return `needs at least ${amount("field")}`;
    case "maxProperties":
      return `may have at most ${amount("field")}`;
    default:
      return message;
  }
}

/** Describes all limits of a value; empty if it has none. */
export function boundsText(schema: Schema): string {
  const bounds = BOUNDS.flatMap((keyword) => {
    const limit = schema[keyword];
    const bound = boundName({ keyword, params: { limit } });
    return limit === undefined ? [] : [bound.replace(/^(must be|needs|may have) /, "")];
  });
  const form = schema.pattern === undefined ? [] : [formatName(schema)];
  return [...form, ...bounds].join(", ");
}

const BOUNDS = [
  ...(["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] as const),
  ...(["minProperties", "maxProperties", "minimumDuration"] as const),
];

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: "a mapping",
  array: "a list",
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  null: "empty",
};

const FORMATS: Readonly<Record<string, string>> = {
  duration: 'a duration such as "30s" or "1h30m"',
  gatewayDuration: 'a duration such as "30s", "500ms" or "1h30m" (integers of h, m, s, ms)',
  url: 'an http:// or https:// URL without user name, such as "https://host:8443/path"',
  hostname: 'a lower-case hostname, exact ("api.example.com") or with a first label "*"',
  cidr: 'an IP address, or a range such as "10.0.0.0/8"',
  ip: 'an IP address such as "127.0.0.1"',
  address: 'an address such as "127.0.0.1:8080"',
  "address-or-off": 'an address such as "127.0.0.1:15000", or "off"',
};
