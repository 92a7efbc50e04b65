import { isJsonObject } from "../../json/json-object.ts";
import { Replacement } from "../../patterns/replacement.ts";
import type { GuardPattern } from "../guards/pattern-guard.ts";

/**
 * Returns a copy of messages or parts in which the matches of patterns are masked: in texts, and in the names, strings and
 * numbers of other values. Fields with words of the conventions (`type`, `role`) are unchanged.
 */
export function redacted(
  messages: readonly object[],
  patterns: readonly GuardPattern[],
): readonly object[] {
  return messages.map((message) =>
    Object.fromEntries(
      Object.entries(message).map(([name, value]) => {
        if (name === "parts" && Array.isArray(value)) return [name, redacted(value, patterns)];
        return [name, DEFINED.has(name) ? value : redactedValue(value, patterns)];
      }),
    ),
  );
}

/** Fields with words of the conventions. */
const DEFINED: ReadonlySet<string> = new Set([
  ...["role", "type", "finish_reason", "modality", "mime_type", "size"],
]);

function redactedValue(value: unknown, patterns: readonly GuardPattern[]): unknown {
  if (typeof value === "string") return masked(value, patterns);
  if (typeof value === "number") {
    const text = String(value);
    const shown = masked(text, patterns);
    return shown === text ? value : shown;
  }
  if (Array.isArray(value)) return value.map((each) => redactedValue(each, patterns));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      masked(name, patterns),
      redactedValue(each, patterns),
    ]),
  );
}

function masked(text: string, patterns: readonly GuardPattern[]): string {
  return patterns.reduce((shown, { search, mask }) => {
    const replacement = new Replacement(search, mask);
    return replacement.push(shown) + replacement.end();
  }, text);
}
