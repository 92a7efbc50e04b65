import type { Json } from "../../model/json.ts";
import { isPower } from "./powers.ts";

/** File in the folder of published policies with the names that each may use, by policy: `{ "sign": ["fetch"] }`. */
export const POWERS_FILE = "allow.json";

/** Returns the names that operators allow a policy; a message if the file is not valid. */
export function publishedPowers(text: string, policy: string): readonly string[] | string {
  const expected = `${POWERS_FILE}: must be an object with a list of names for each policy`;
  let powers: Json;
  try {
    powers = JSON.parse(text);
  } catch {
    return expected;
  }
  if (typeof powers !== "object" || powers === null || Array.isArray(powers)) return expected;
  if (!Object.values(powers).every(isNames)) return expected;
  const own: Json | undefined = Object.hasOwn(powers, policy) ? Reflect.get(powers, policy) : [];
  if (!isNames(own)) return expected;
  const unknown = own.find((name) => !isPower(name));
  return unknown === undefined
    ? own
    : `${POWERS_FILE}: "${unknown}" is no module of Node.js without "node:", nor fetch, process or globalThis`;
}

function isNames(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
