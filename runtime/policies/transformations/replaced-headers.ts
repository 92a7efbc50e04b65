import { toJson } from "../../cel/functions/json.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { fieldValue } from "./field-value.ts";

/**
 * Converts a map from an expression to headers. Values are strings, numbers, booleans, or lists of them. Invalid fields,
 * Host, and connection headers are omitted. Returns `undefined` if the value is not a map.
 */
export function replacedHeaders(value: unknown): HeaderList | undefined {
  const text = toJson(value);
  if (text === undefined || !text.startsWith("{")) return undefined;
  const list: string[] = [];
  for (const [name, each] of Object.entries(JSON.parse(text))) {
    if (!TOKEN.test(name)) continue;
    for (const item of Array.isArray(each) ? each : [each]) {
      if (typeof item === "object") continue;
      const field = fieldValue(item);
      if (field !== undefined) list.push(name.toLowerCase(), field);
    }
  }
  return endToEnd(list, "host");
}

/** RFC 9110 5.6.2. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
