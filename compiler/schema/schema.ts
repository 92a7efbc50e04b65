/**
 * A JSON schema (draft 2020-12 words that gwc uses) with gwc's own keywords. Written without `anyOf`, `oneOf` and
 * `$ref` for shapes, so that each mistake has one message and each path one schema.
 */
export interface Schema {
  readonly type?: SchemaType | readonly SchemaType[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  /** What the pattern asks for, in words: `a path that begins with "/"`. */
  readonly form?: string;
  readonly format?: FormatName;
  /** The shortest duration that a text of the format `duration` may say: `1s`. */
  readonly minimumDuration?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Exactly one of these properties must be there. */
  readonly exactlyOneOf?: readonly string[];
  /** At least one of these properties must be there. */
  readonly atLeastOneOf?: readonly string[];
  /** At most one of these properties may be there. */
  readonly atMostOneOf?: readonly string[];
  /** Rules over several fields of an object. */
  readonly checks?: readonly ValueCheck[];
  /** Another spelling of the field of this name. */
  readonly aliasOf?: string;
  /** Known from the specification, but not built yet: using it is an error that says so. The value is what it is. */
  readonly unsupported?: string;
  /** Means nothing in this place: using it is an error that says so. The value is what the field acts on instead. */
  readonly misplaced?: string;
  /** Values that are known from the specification, but not built yet, and what they are. */
  readonly unsupportedValues?: Readonly<Record<string, string>>;
  /** `${NAME}` in it is read when the gateway starts, not at build. */
  readonly readAtStart?: boolean;
  /** Must not be written out: a literal is reported, `${NAME}` is read when the gateway starts. */
  readonly secret?: boolean;
  /** The value is a CEL expression. */
  readonly expression?: boolean;
}

/** A rule over several fields of an object, in gwc's words and in those of a CRD. */
export interface ValueCheck {
  /** What must hold, as a sentence without full stop. */
  readonly message: string;
  /** The field that the mistake is about; the object itself when absent. */
  readonly field?: string;
  readonly holds: (value: Readonly<Record<string, unknown>>) => boolean;
  /** The same as a CEL expression over `self`, for `x-kubernetes-validations`. */
  readonly cel: string;
}

/** The JSON types of a value. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

/** Forms of a text that gwc checks. */
export type FormatName =
  | "duration"
  | "gatewayDuration"
  | "url"
  | "hostname"
  | "cidr"
  | "address"
  | "loopback-address";

/** An object whose keys are all named: an unknown one is a mistake. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  rest: Omit<Schema, "type" | "properties" | "additionalProperties"> = {},
): Schema {
  return { type: "object", properties, additionalProperties: false, ...rest };
}

/** An object with any keys, whose values have one shape. */
export function map(
  values: Schema,
  rest: Omit<Schema, "type" | "additionalProperties"> = {},
): Schema {
  return { type: "object", additionalProperties: values, ...rest };
}

/** A list of items of one shape. */
export function list(items: Schema, rest: Omit<Schema, "type" | "items"> = {}): Schema {
  return { type: "array", items, ...rest };
}

/** A text of at least one character. */
export function text(description: string, rest: Omit<Schema, "type" | "description"> = {}): Schema {
  return { type: "string", minLength: 1, description, ...rest };
}

/** ShortString of the specification: 1..256 characters. */
export function shortText(
  description: string,
  rest: Omit<Schema, "type" | "description"> = {},
): Schema {
  return text(description, { maxLength: 256, ...rest });
}

/** A CEL expression: 1..16384 characters. */
export function expression(description: string): Schema {
  return text(description, { maxLength: 16384, expression: true });
}

/** True or false. */
export function boolean(
  description: string,
  rest: Omit<Schema, "type" | "description"> = {},
): Schema {
  return { type: "boolean", description, ...rest };
}

/** A whole number within bounds, both included. */
export function integer(
  description: string,
  minimum: number,
  maximum: number,
  rest: Omit<Schema, "type"> = {},
): Schema {
  return { type: "integer", description, minimum, maximum, ...rest };
}

/** One of a few words. */
export function choice(
  description: string,
  values: readonly string[],
  rest: Omit<Schema, "type"> = {},
): Schema {
  return { type: "string", enum: values, description, ...rest };
}

/** A duration: `30s`, `1h30m`. */
export function duration(
  description: string,
  rest: Omit<Schema, "type" | "description"> = {},
): Schema {
  return { type: "string", format: "duration", description, ...rest };
}

/** Whether a field can be used where it stands. */
export function isWritable({ unsupported: later, misplaced }: Schema): boolean {
  return later === undefined && misplaced === undefined;
}

/** A part of the specification that gwc does not build yet. */
export function unsupported(what: string): Schema {
  return { unsupported: what };
}

/** The schema of the value at a path, as far as the schema says. */
export function schemaAt(schema: Schema, path: readonly (string | number)[]): Schema | undefined {
  let current: Schema | undefined = schema;
  for (const step of path) {
    if (current === undefined) return undefined;
    current = typeof step === "number" ? current.items : propertySchema(current, step);
  }
  return current;
}

function propertySchema(schema: Schema, key: string): Schema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key))
    return schema.properties[key];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
