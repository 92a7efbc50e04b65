import { hash } from "node:crypto";
import type { JsonObject } from "../cel/variables.ts";
import { isJsonObject } from "../json/json-object.ts";

/** A parsed entry of an API key. */
export interface ApiKeyEntry {
  /** SHA-256 of the key, hex. */
  readonly digest: string;
  readonly metadata: JsonObject;
  /** Models that the holder may request; `undefined` if the entry does not limit them. */
  readonly allowedModels: readonly string[] | undefined;
}

/**
 * Reads an entry: the key itself, or `{"key" or "keyHash", "metadata", "allowedModels"}` as JSON. Throws an Error that says
 * what is wrong, without the content.
 */
export function readApiKeyEntry(text: string): ApiKeyEntry {
  const trimmed = text.trim();
  if (trimmed === "") throw new Error("is empty");
  if (!trimmed.startsWith("{"))
    return { digest: keyDigest(trimmed), metadata: {}, allowedModels: undefined };
  const { key, keyHash, metadata = {}, allowedModels } = parseObject(trimmed);
  if (!isJsonObject(metadata)) throw new Error('has a "metadata" that is not an object');
  if (allowedModels !== undefined && !isStringList(allowedModels))
    throw new Error('has an "allowedModels" that is not a list of strings');
  return { digest: readDigest(key, keyHash), metadata, allowedModels };
}

/** Computes the SHA-256 of a key, hex. */
export function keyDigest(key: string): string {
  return hash("sha256", key);
}

function readDigest(key: unknown, keyHash: unknown): string {
  if (key !== undefined && keyHash !== undefined) throw new Error('has both "key" and "keyHash"');
  if (keyHash !== undefined) {
    const [, digest] = (typeof keyHash === "string" && DIGEST.exec(keyHash)) || [];
    if (digest === undefined)
      throw new Error('has a "keyHash" that is not "sha256:" and 64 hexadecimal digits');
    return digest.toLowerCase();
  }
  if (typeof key !== "string" || key === "") throw new Error('has no string "key" or "keyHash"');
  return keyDigest(key);
}

const DIGEST = /^sha256:([0-9a-f]{64})$/i;

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function parseObject(text: string): JsonObject {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("begins like JSON but is not");
  }
}
