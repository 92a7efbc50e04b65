import type { Exchange } from "../../http/exchange.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { editRequest } from "../../policies/envoy/header-edits.ts";
import { decodeHeader, encodeHeader } from "../protocol/header-names.ts";
import { isParamHeader } from "../protocol/param-headers.ts";

/**
 * Changes the headers that repeat arguments of a call (MCP 2026-07-28, `x-mcp-header`) as its arguments have changed. Removes
 * those that repeat none: their values were not checked.
 */
export function repeatArguments(exchange: Exchange, before: unknown, after: unknown): void {
  const changed = new Map<string, string>();
  const known = new Set<string>();
  note(before, after, changed, known);
  const { requestHeaders: headers } = exchange;
  const edits = headers.flatMap((name, at) => {
    if (at % 2 === 1 || !isParamHeader(name)) return [];
    const given = decodeHeader(headers[at + 1] ?? "") ?? "";
    const own = changed.get(given) ?? (known.has(given) ? given : undefined);
    const value = own === undefined ? undefined : encodeHeader(own);
    return [{ name: name.toLowerCase(), value, action: "overwrite" as const }];
  });
  if (edits.length > 0) editRequest(exchange, edits);
}

/** Notes the values that have changed, and all values after the change. */
function note(
  before: unknown,
  after: unknown,
  changed: Map<string, string>,
  known: Set<string>,
): void {
  if (isJsonObject(after)) {
    const old = isJsonObject(before) ? before : {};
    for (const [key, value] of Object.entries(after)) note(old[key], value, changed, known);
    return;
  }
  known.add(String(after));
  if (before !== undefined && before !== after) changed.set(String(before), String(after));
}
