import type { ErrorObject } from "ajv";
import type { Schema } from "./schema.ts";

/** What a value must be: `a text or a mapping`, `a duration such as "30s"`. */
export function schemaTypeNames(schema: Schema | undefined): string {
  const types = [schema?.type ?? []].flat();
  const form = /duration/i.test(schema?.format ?? "") && FORMATS[schema?.format ?? ""];
  return types
    .map((type) => (type === "string" && form) || (TYPE_NAMES[type] ?? type))
    .join(" or ");
}

/** What a value is: `a list`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a number";
  return TYPE_NAMES[typeof value] ?? typeof value;
}

/** The form that a text must have. */
export function formatName(schema: Schema | undefined): string {
  return (
    schema?.form ?? FORMATS[schema?.format ?? ""] ?? `text that matches ${schema?.pattern ?? ""}`
  );
}

/** The bound that was passed, in words: `has at most 16 items`. */
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
      return `is at least ${limit}`;
    case "maximum":
      return `is at most ${limit}`;
    case "minLength":
      return `has at least ${amount("character")}`;
    case "maxLength":
      return `has at most ${amount("character")}`;
    case "minItems":
      return `has at least ${amount("item")}`;
    case "maxItems":
      return `has at most ${amount("item")}`;
    case "minProperties":
      return `has at least ${amount("field")}`;
    case "maxProperties":
      return `has at most ${amount("field")}`;
    default:
      return message;
  }
}

/** The bounds of a value, in words; empty where it has none. */
export function boundsText(schema: Schema): string {
  const bounds = BOUNDS.flatMap((keyword) => {
    const limit = schema[keyword];
    const bound = boundName({ keyword, params: { limit } });
    return limit === undefined ? [] : [bound.replace(/^(is|has) /, "")];
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
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  null: "empty",
};

const FORMATS: Readonly<Record<string, string>> = {
  duration: 'a duration such as "30s" or "1h30m"',
  gatewayDuration: 'a duration such as "30s", "500ms" or "1h30m" (whole numbers of h, m, s, ms)',
  url: 'an http:// or https:// URL without user name, such as "https://host:8443/path"',
  hostname: 'a lower-case host name, exact ("api.example.com") or with a first label "*"',
  cidr: 'an IP address, or a range such as "10.0.0.0/8"',
  ip: 'an IP address such as "127.0.0.1"',
  address: 'an address such as "127.0.0.1:8080"',
  "loopback-address": 'an address that only this machine reaches, such as "127.0.0.1:15000"',
};
