import { toJson } from "../../cel/functions/json.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { fieldValue } from "./field-value.ts";

/**
 * The headers that a map of an expression stands for: names to texts, numbers and booleans, or to lists of them. What
 * can't stand on the wire, Host, and what belongs to a connection are left out. Undefined for what is no map.
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
