import { createHash } from "node:crypto";
import { isJsonObject } from "../../json/json-object.ts";
import { hasRepeatedKey, isObjectAt, skipSpace } from "../../json/json-text.ts";
import { isTooDeep } from "../../json/nesting.ts";
import type { ItemList } from "./item-lists.ts";

/**
 * Digests of the definition of an item: SHA-256 (base64url) of each of its parts, by the part's name, and `other` for
 * everything else. Absent parts have no digest.
 */
export type ItemDigests = Readonly<Record<string, string>>;

/** How the definitions of a list are read. */
interface DefinitionParts {
  /** The parts that have a digest of their own. */
  readonly own: readonly string[];
  /** The parts without a digest: names, and parts that some revisions lack or that change with the contents. */
  readonly apart: readonly string[];
}

const RESOURCE_PARTS = ["name", "title", "description", "mimeType", "annotations"];

const partsOf: Readonly<Record<ItemList, DefinitionParts>> = {
  tools: {
    own: ["title", "description", "inputSchema", "outputSchema", "annotations", "execution"],
    apart: ["name"],
  },
  prompts: { own: ["title", "description", "arguments"], apart: ["name"] },
  resources: { own: RESOURCE_PARTS, apart: ["uri", "size"] },
  resourceTemplates: { own: RESOURCE_PARTS, apart: ["uriTemplate"] },
};

/** Maximum nesting depth of objects and arrays. */
const MAX_JSON_DEPTH = 100;

/**
 * Computes the digests of a definition (JSON text). Definitions that every parser reads alike have the same digests,
 * whatever the order of their keys. Returns `undefined` if parsers may differ (duplicate keys) or the nesting is too deep.
 */
export function itemDigests(list: ItemList, definition: string): ItemDigests | undefined {
  const start = skipSpace(definition, 0);
  if (!isObjectAt(definition, start) || hasRepeatedKey(definition)) return undefined;
  if (isTooDeep(definition, MAX_JSON_DEPTH)) return undefined;
  const members: Readonly<Record<string, unknown>> = JSON.parse(definition);
  const digests: Record<string, string> = {};
  const { own, apart } = partsOf[list];
  for (const part of own) {
    const value = Object.hasOwn(members, part) ? members[part] : undefined;
    if (value === undefined) continue;
    digests[part] = digestOf(canonical(stable(part, value)));
  }
  const other = Object.entries(members).filter(
    ([key]) => !own.includes(key) && !apart.includes(key),
  );
  if (other.length > 0) digests.other = digestOf(canonicalMembers(other));
  return digests;
}

/** Computes the digest of a server's instructions for clients, given as JSON text. */
export function instructionsDigest(instructions: string): string {
  return digestOf(canonical(JSON.parse(instructions)));
}

/** Digests of the values of `execution` that say only whether calls become tasks (MCP 2025-11-25). */
export const plainExecutions: ReadonlySet<string> = new Set(
  [{}, ...["forbidden", "optional", "required"].map((taskSupport) => ({ taskSupport }))].map(
    (execution) => digestOf(canonical(execution)),
  ),
);

/** Removes what does not describe the item itself. */
function stable(part: string, value: unknown): unknown {
  if (part === "outputSchema") return unwrapped(value);
  if (part !== "annotations") return value;
  // `lastModified` changes with the contents of a resource.
  const { lastModified: _, ...annotations } = fieldsOf(value);
  return Object.keys(fieldsOf(value)).length === 0 ? value : annotations;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) return canonicalMembers(Object.entries(value));
  return JSON.stringify(value);
}

function canonicalMembers(members: readonly (readonly [string, unknown])[]): string {
  const sorted = members.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${canonical(value)}`).join(",")}}`;
}

/**
 * Unwraps an output schema: clients with sessions see outputs that are not objects as the `result` of an object (see
 * bridge/session-results.ts).
 */
function unwrapped(schema: unknown): unknown {
  const { type, properties, required, ...rest } = fieldsOf(schema);
  const { result, ...others } = fieldsOf(properties);
  const isWrapped =
    type === "object" &&
    canonical(required ?? null) === '["result"]' &&
    Object.keys(rest).length + Object.keys(others).length === 0 &&
    result !== undefined &&
    fieldsOf(result).type !== "object";
  return isWrapped ? withReferencesBack(result) : schema;
}

function withReferencesBack(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withReferencesBack);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(schema);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      key === "$ref" && typeof value === "string"
        ? value.replace(/^#\/properties\/result(?=\/|$)/, "#")
        : withReferencesBack(value),
    ]),
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? { ...value } : {};
}
