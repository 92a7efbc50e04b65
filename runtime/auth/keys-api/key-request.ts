import type { JsonObject } from "../../cel/variables.ts";
import { type KeyChoices, KeyError, type ListedKey } from "../../store/key-registry.ts";
import { checkLimit, checkMetadata, checkModels } from "../../store/stored-key.ts";

/** Members of a request that makes or changes a key. */
const MEMBERS = ["metadata", "models", "limits", "expires"] as const;

/** Reads a JSON object with no other members than these. Throws a KeyError. */
function bodyMembers(body: Buffer, members: readonly string[]): JsonObject {
  const value = body.length === 0 ? {} : parsed(body);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new KeyError("the body is not a JSON object");
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown !== undefined) throw new KeyError(`the body has an unknown member "${unknown}"`);
  return Object.assign(Object.create(null), value);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new KeyError("the body is not JSON");
  }
}

/** Reads a request to make a key. Throws a KeyError. */
export function readCreation(body: Buffer): {
  readonly name: string;
  readonly choices: KeyChoices;
} {
  const given = bodyMembers(body, ["name", ...MEMBERS]);
  if (typeof given.name !== "string") throw new KeyError('"name" is not a string');
  const { metadata = {}, models, limits = [], expires } = readChange(given);
  return { name: given.name, choices: { metadata, models, limits, expires } };
}

/** Reads a request to change a key. Throws a KeyError. */
export function readUpdate(body: Buffer): Partial<KeyChoices> {
  return readChange(bodyMembers(body, MEMBERS));
}

/** Reads the members that are there; null removes models and expiry. */
function readChange({ metadata, models, limits, expires }: JsonObject): Partial<KeyChoices> {
  try {
    return {
      ...(metadata !== undefined && { metadata: checkMetadata(metadata) }),
      ...(models !== undefined && { models: models === null ? undefined : checkModels(models) }),
      ...(limits !== undefined && { limits: listOf(limits).map(checkLimit) }),
      ...(expires !== undefined && { expires: expires === null ? undefined : timeOf(expires) }),
    };
  } catch (error) {
    throw new KeyError(error instanceof Error ? error.message : String(error));
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error('"limits" is not a list');
}

function timeOf(value: unknown): number {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
  const time = typeof value === "string" && form.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw new Error('"expires" is not a time such as 2027-01-31T00:00:00Z');
  return time;
}

/** Reads the overlap of a rotation, in milliseconds. Throws a KeyError. */
export function readOverlap(body: Buffer): number {
  const { overlapSeconds = 86_400 } = bodyMembers(body, ["overlapSeconds"]);
  if (typeof overlapSeconds === "number" && overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP)
    return overlapSeconds * 1000;
  throw new KeyError(`"overlapSeconds" is not a number from 0 to ${MAX_OVERLAP}`);
}

/** Seconds of a year. */
const MAX_OVERLAP = 31_536_000;

/** Returns a key for a response: neither the key nor its digest. */
export function shownKey(key: ListedKey): JsonObject {
  const { name, shown, metadata, models, limits, created, expires, isReplaced } = key;
  return {
    ...{ name, shown, metadata, models: models ?? null, limits },
    created: new Date(created).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    replaced: isReplaced,
  };
}
