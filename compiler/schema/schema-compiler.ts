import { isIP } from "node:net";
import { Ajv, type ValidateFunction } from "ajv";
import { parseDuration } from "./duration.ts";
import { isWritable, type Schema, type ValueCheck } from "./schema.ts";

/**
 * Compiles a schema with gwc's own keywords and formats, for values whose mappings have no other keys than `keys`. Done
 * once per schema and input: it is the expensive part, and an input uses few of the fields there are.
 */
export function compileSchema(schema: Schema, keys: ReadonlySet<string>): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    verbose: false,
    unicodeRegExp: true,
    allowUnionTypes: true,
    // The schema is ours and is used once: checking it and polishing its code cost more than they bring.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  ajv.addKeyword({
    keyword: "checks",
    type: "object",
    errors: false,
    validate: (checks: readonly ValueCheck[], value: Readonly<Record<string, unknown>>) =>
      checks.every((check) => check.holds(value)),
  });
  addCountKeyword(ajv, "exactlyOneOf", (count) => count === 1);
  addCountKeyword(ajv, "atLeastOneOf", (count) => count >= 1);
  addCountKeyword(ajv, "atMostOneOf", (count) => count <= 1);
  ajv.addKeyword({
    keyword: "minimumDuration",
    type: "string",
    schemaType: "string",
    errors: false,
    // A text that is no duration is a mistake of its format.
    validate: (minimum: string, text: string) =>
      (parseDuration(text) ?? Number.POSITIVE_INFINITY) >= (parseDuration(minimum) ?? 0),
  });
  ajv.addFormat("duration", (text: string) => parseDuration(text) !== undefined);
  ajv.addFormat("gatewayDuration", /^([0-9]{1,5}(h|m|s|ms)){1,4}$/);
  ajv.addFormat("url", isHttpUrl);
  ajv.addFormat("hostname", isHostname);
  ajv.addFormat("cidr", isAddressRange);
  ajv.addFormat("ip", (text: string) => isIP(text) !== 0);
  ajv.addFormat(
    "address",
    (text: string) =>
      hasVariable(text) || /^(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+):[0-9]{1,5}$/.test(text),
  );
  ajv.addFormat(
    "loopback-address",
    (text: string) =>
      hasVariable(text) || /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\]):[0-9]{1,5}$/.test(text),
  );
  return ajv.compile(usedPart(schema, keys));
}

/**
 * The part of a schema that says something about such values. What is not built yet is an unknown field to ajv, and
 * told apart when it is reported.
 */
function usedPart(schema: Schema, keys: ReadonlySet<string>): Schema {
  const { properties, additionalProperties, items } = schema;
  const used = Object.entries(properties ?? {}).filter(
    ([name, each]) => isWritable(each) && keys.has(name),
  );
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(used.map(([name, each]) => [name, usedPart(each, keys)])),
        }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: usedPart(additionalProperties, keys) }
      : {}),
    ...(items === undefined ? {} : { items: usedPart(items, keys) }),
  };
}

function addCountKeyword(ajv: Ajv, keyword: string, holds: (count: number) => boolean): void {
  ajv.addKeyword({
    keyword,
    type: "object",
    schemaType: "array",
    errors: false,
    validate: (names: readonly string[], value: object) =>
      holds(names.filter((name) => Object.hasOwn(value, name)).length),
  });
}

function hasVariable(text: string): boolean {
  return text.includes("${");
}

function isHttpUrl(text: string): boolean {
  if (hasVariable(text)) return true;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    url.username === "" &&
    url.password === ""
  );
}

/** An IP address, or a range of them (RFC 4632, RFC 4291 2.3). */
function isAddressRange(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  if (bits < 0 || address.includes("%") || rest.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/** A DNS name, exact or with a first label `*` (Gateway API `Hostname`). */
function isHostname(text: string): boolean {
  return (
    text === "*" ||
    /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
  );
}
