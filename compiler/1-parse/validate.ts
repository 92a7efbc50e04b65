import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import {
  below,
  type ConfigPath,
  type Diagnostics,
  formatPath,
  keyOf,
  type Origin,
} from "../diagnostics.ts";
import { nearest } from "../nearest.ts";
import { type Schema, schemaAt, type ValueCheck } from "../schema.ts";
import { parseDuration } from "./duration.ts";
import type { ConfigValue, ReadValue } from "./values.ts";

/** Checks values against one schema. Made once per schema: compiling it is the expensive part. */
export type Validator = (read: ReadValue, origin: Origin, diagnostics: Diagnostics) => boolean;

/** Compiles a schema; the validator reports every mistake at its smallest node and says whether there was none. */
export function validator(schema: Schema): Validator {
  const validate = compileSchema(schema);
  return (read, origin, diagnostics) => {
    if (validate(read.value)) return true;
    const errors = validate.errors ?? [];
    for (const error of errors) {
      if (!isConsequence(error, errors, schema, read.value))
        report(error, schema, read, origin, diagnostics);
    }
    return false;
  };
}

function compileSchema(schema: Schema): ValidateFunction {
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
  return ajv.compile(withoutLaterFields(schema));
}

/** What is not built yet is an unknown field to ajv, and told apart when it is reported: most of the schema is that. */
function withoutLaterFields(schema: Schema): Schema {
  const { properties, additionalProperties, items } = schema;
  const built = Object.entries(properties ?? {}).filter(([, each]) => each.notYet === undefined);
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            built.map(([name, each]) => [name, withoutLaterFields(each)]),
          ),
        }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: withoutLaterFields(additionalProperties) }
      : {}),
    ...(items === undefined ? {} : { items: withoutLaterFields(items) }),
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

/** A DNS name, exact or with a first label `*` (Gateway API `Hostname`). */
function isHostname(text: string): boolean {
  return (
    text === "*" ||
    /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
  );
}

/** A field that is missing because it is misspelled is one mistake, and the misspelling is reported. */
function isConsequence(
  { keyword, instancePath, params }: ErrorObject,
  errors: readonly ErrorObject[],
  root: Schema,
  value: ConfigValue,
): boolean {
  if (keyword !== "required" && keyword !== "exactlyOneOf" && keyword !== "atLeastOneOf")
    return false;
  const schema = schemaAt(root, pointerPath(instancePath, value));
  const wanted =
    keyword === "required" ? [String(params.missingProperty)] : (schema?.[keyword] ?? []);
  return errors.some((other) => {
    if (other.keyword !== "additionalProperties" || other.instancePath !== instancePath)
      return false;
    const suggestion = nearest(String(other.params.additionalProperty), knownKeys(schema));
    return suggestion !== undefined && wanted.includes(suggestion);
  });
}

function report(
  error: ErrorObject,
  root: Schema,
  { value, expanded }: ReadValue,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const path = pointerPath(error.instancePath, value);
  const variable = expanded.find((each) => formatPath(each.path) === formatPath(path));
  // One mistake, one diagnostic: the variable that is not set has its own.
  if (variable?.isComplete === false) return;
  const at = below(origin, ...path);
  const schema = schemaAt(root, path);
  const whole = origin.resource?.name ?? "the file";
  const field = path.length === 0 ? whole : `"${formatPath(path.slice(-1))}"`;
  switch (error.keyword) {
    case "additionalProperties": {
      const key = String(error.params.additionalProperty);
      const later = schemaAt(root, [...path, key])?.notYet;
      if (later !== undefined) {
        const what = { what: later, field: `"${key}"` };
        diagnostics.report("not-built-yet", keyOf(below(origin, ...path, key)), what);
        return;
      }
      const known = knownKeys(schema);
      const params = {
        owner: ownerName(path, whole),
        key,
        suggestion: nearest(key, known),
        known: known.join(", "),
      };
      diagnostics.report("unknown-field", keyOf(below(origin, ...path, key)), params);
      return;
    }
    case "required": {
      const key = String(error.params.missingProperty);
      diagnostics.report("missing-field", pointAtOwner(at, path), {
        owner: ownerName(path, whole),
        key,
      });
      return;
    }
    case "checks": {
      const object = valueAt(value, path) as Readonly<Record<string, unknown>>;
      for (const { holds, message, field: about } of schema?.checks ?? []) {
        if (holds(object)) continue;
        const isThere = about !== undefined && Object.hasOwn(object, about);
        const place = isThere ? below(origin, ...path, about) : pointAtOwner(at, path);
        diagnostics.report("broken-rule", place, { message });
      }
      return;
    }
    case "exactlyOneOf":
    case "atLeastOneOf":
    case "atMostOneOf": {
      const all: readonly string[] = schema?.[error.keyword] ?? [];
      const found = all.filter((name) => valueAt(value, [...path, name]) !== undefined);
      const own = all.filter((name) => schema?.properties?.[name]?.aliasOf === undefined);
      const built = own.filter((name) => schema?.properties?.[name]?.notYet === undefined);
      const names = built.length === 0 ? own : built;
      const place =
        found.length > 1 ? keyOf(below(origin, ...path, found[1] ?? "")) : pointAtOwner(at, path);
      diagnostics.report("wrong-choice", place, {
        owner: ownerName(path, whole),
        rule: error.keyword,
        names,
        found,
      });
      return;
    }
    case "type":
      diagnostics.report("wrong-type", at, {
        field,
        expected: typeNames(schema),
        found: typeName(valueAt(value, path)),
      });
      return;
    case "enum": {
      const found = String(valueAt(value, path));
      const allowed = (schema?.enum ?? []).map(String);
      const later = Object.hasOwn(schema?.notYetValues ?? {}, found)
        ? schema?.notYetValues?.[found]
        : undefined;
      if (later !== undefined) {
        diagnostics.report("not-built-yet", at, { what: later, field: `"${found}"` });
        return;
      }
      diagnostics.report("unknown-value", at, {
        field,
        found: variable === undefined ? `"${found}"` : `what "${variable.source}" stands for`,
        allowed: allowed.join(", "),
        suggestion: variable === undefined ? nearest(found, allowed) : undefined,
      });
      return;
    }
    case "minimumDuration": {
      const least = `must be at least ${schema?.minimumDuration}`;
      diagnostics.report("out-of-range", at, { field, bound: least });
      return;
    }
    case "format":
    case "pattern":
      diagnostics.report("bad-format", at, { field, expected: formatName(schema) });
      return;
    default:
      diagnostics.report("out-of-range", at, { field, bound: bound(error) });
  }
}

/** The bound that was passed, in words. */
function bound({ keyword, params, message = keyword }: ErrorObject): string {
  const { limit } = params;
  const amount = (what: string): string => `${limit} ${what}${limit === 1 ? "" : "s"}`;
  switch (keyword) {
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

/** A missing field has no place of its own: the key of what should hold it, or the start of the file. */
function pointAtOwner(at: ReturnType<typeof below>, path: ConfigPath): ReturnType<typeof below> {
  if (path.length === 0) {
    const { resource } = at;
    return resource === undefined ? { ...at, part: "file" } : below(at, "kind");
  }
  return typeof path.at(-1) === "string" ? keyOf(at) : at;
}

function ownerName(path: ConfigPath, whole: string): string {
  if (path.length === 0) return whole;
  const last = path.at(-1);
  const parent = path.at(-2);
  return typeof last === "number"
    ? `${typeof parent === "string" ? parent : "item"}[${last}]`
    : String(last);
}

function knownKeys(schema: Schema | undefined): string[] {
  return Object.entries(schema?.properties ?? {})
    .filter(([, property]) => property.notYet === undefined && property.aliasOf === undefined)
    .map(([key]) => key);
}

/** `/binds/0/port` as a path: an array's steps are numbers. */
function pointerPath(pointer: string, value: ConfigValue): ConfigPath {
  const path: (string | number)[] = [];
  let at: unknown = value;
  for (const raw of pointer.split("/").slice(1)) {
    const step = raw.replace(/~1/g, "/").replace(/~0/g, "~");
    path.push(Array.isArray(at) ? Number(step) : step);
    at = childOf(at, path.at(-1) ?? "");
  }
  return path;
}

function valueAt(value: ConfigValue, path: ConfigPath): unknown {
  return path.reduce<unknown>(childOf, value);
}

function childOf(value: unknown, step: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, step)
    ? Reflect.get(value, step)
    : undefined;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: "a mapping",
  array: "a list",
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  null: "empty",
};

function typeNames(schema: Schema | undefined): string {
  const types = [schema?.type ?? []].flat();
  return types.map((type) => TYPE_NAMES[type] ?? type).join(" or ");
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a number";
  return TYPE_NAMES[typeof value] ?? typeof value;
}

const FORMATS: Readonly<Record<string, string>> = {
  duration: 'a duration such as "30s" or "1h30m"',
  gatewayDuration: 'a duration such as "30s", "500ms" or "1h30m" (whole numbers of h, m, s, ms)',
  url: 'an http:// or https:// URL without user name, such as "https://host:8443/path"',
  hostname: 'a lower-case host name, exact ("api.example.com") or with a first label "*"',
  address: 'an address such as "127.0.0.1:8080"',
  "loopback-address": 'an address that only this machine reaches, such as "127.0.0.1:15000"',
};

function formatName(schema: Schema | undefined): string {
  return (
    schema?.form ?? FORMATS[schema?.format ?? ""] ?? `text that matches ${schema?.pattern ?? ""}`
  );
}
