import type { JsonObject } from "../cel/variables.ts";
import type { Period } from "./store.ts";

/** An API key that was made at run time, as the store holds it: everything but the key. */
export interface StoredKey {
  /** Names its counters, also after it was rotated. */
  readonly id: string;
  /** Unique among the keys of the store; rules read it as `apiKey.name`. */
  readonly name: string;
  /** First characters of the key, for people. */
  readonly shown: string;
  /** Attributes of the holder, which rules read as `apiKey`. */
  readonly metadata: JsonObject;
  /** Models that the holder may use, each with at most one `*` at an end; `undefined` for any. */
  readonly models: readonly string[] | undefined;
  readonly limits: readonly KeyLimit[];
  /** Times in milliseconds since the epoch. */
  readonly created: number;
  /** `undefined` if it does not expire. */
  readonly expires: number | undefined;
  /** Whether another key of the same name took its place (rotation); it is then valid until it expires. */
  readonly isReplaced: boolean;
}

/** A limit of one key, wherever it is used. */
export interface KeyLimit {
  readonly counts: CountedUnit;
  readonly amount: number;
  readonly period: Period;
}

/** Requests; tokens of models, input and output together; or their cost in US dollars. */
export type CountedUnit = "requests" | "tokens" | "cost";

/** Units and periods of limits of keys. */
const COUNTED_UNITS: readonly CountedUnit[] = ["requests", "tokens", "cost"];
/** Periods of limits of keys. */
export const PERIODS: readonly Period[] = ["second", "minute", "hour", "day", "month"];

/** Maximum values of a key's parts. They bound what one request reads. */
export const MAX_KEY_PARTS = { models: 256, limits: 8, metadataBytes: 16_384, name: 128 } as const;

/** Writes the record of a key. The digest is in it, so that a record under another digest is no key. */
export function writeStoredKey(digest: string, key: StoredKey): string {
  return JSON.stringify({ version: 1, digest, ...key });
}

/** Reads the record of a key. Throws an Error that says what is wrong, without content. */
export function readStoredKey(digest: string, text: string): StoredKey {
  const given = objectOf(JSON.parse(text), "the record");
  if (given.version !== 1) throw new Error("the record has an unknown version");
  if (given.digest !== digest) throw new Error("the record belongs to another key");
  const { id, name, shown, metadata, models, limits, created, expires, isReplaced } = given;
  if (typeof id !== "string" || !/^[0-9a-f]{16}$/.test(id)) throw new Error('"id" is invalid');
  if (typeof shown !== "string") throw new Error('"shown" is invalid');
  if (typeof created !== "number") throw new Error('"created" is invalid');
  if (expires !== undefined && typeof expires !== "number") throw new Error('"expires" is invalid');
  if (!Array.isArray(limits)) throw new Error('"limits" is invalid');
  return {
    ...{ id, shown, created, expires, isReplaced: isReplaced === true },
    name: checkKeyName(name),
    metadata: checkMetadata(metadata),
    models: models === undefined ? undefined : checkModels(models),
    limits: limits.map(checkLimit),
  };
}

/** Returns a valid name. Throws an Error that says what is wrong. */
export function checkKeyName(name: unknown): string {
  if (typeof name === "string" && NAME.test(name)) return name;
  throw new Error(
    `a name has 1 to ${MAX_KEY_PARTS.name} letters, digits, ".", "_", "@", "/" and "-", and begins with a letter or digit`,
  );
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@/-]{0,127}$/;

/** Returns valid metadata. Throws an Error that says what is wrong. */
export function checkMetadata(value: unknown): JsonObject {
  const metadata = objectOf(value, "metadata");
  if (Object.hasOwn(metadata, "name"))
    throw new Error('metadata cannot have "name": rules read the name of the key there');
  if (JSON.stringify(metadata).length > MAX_KEY_PARTS.metadataBytes)
    throw new Error(`metadata has more than ${MAX_KEY_PARTS.metadataBytes} bytes`);
  return metadata;
}

/** Returns valid patterns of models. Throws an Error that says what is wrong. */
export function checkModels(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MAX_KEY_PARTS.models;
  if (!isList) throw new Error(`"models" is not a list of 1 to ${MAX_KEY_PARTS.models} models`);
  return value.map((model): string => {
    if (typeof model === "string" && /^(\*?[^*\s]+|[^*\s]+\*|\*)$/.test(model)) return model;
    throw new Error('a model is a name with at most one "*", at its beginning or end');
  });
}

/** Returns a valid limit. Throws an Error that says what is wrong. */
export function checkLimit(value: unknown): KeyLimit {
  const { counts, amount, period } = objectOf(value, "a limit");
  const unit = COUNTED_UNITS.find((each) => each === counts);
  const length = PERIODS.find((each) => each === period);
  if (unit === undefined) throw new Error(`a limit counts one of ${COUNTED_UNITS.join(", ")}`);
  if (length === undefined) throw new Error(`a limit is per ${PERIODS.join(", ")}`);
  if (typeof amount !== "number" || !Number.isFinite(amount) || amount <= 0)
    throw new Error("the amount of a limit is a number above 0");
  if (unit === "requests" && !Number.isInteger(amount))
    throw new Error("the amount of a limit of requests is a whole number");
  return { counts: unit, amount, period: length };
}

/** Checks that a value is an object. The result has no prototype, so that "__proto__" is a name like others. */
function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${what} is not an object`);
  return Object.assign(Object.create(null), value);
}
