import type { ListedKey } from "../../../runtime/store/key-registry.ts";
import type { KeyLimit } from "../../../runtime/store/stored-key.ts";
import { textTable } from "./text-table.ts";

/** Returns the keys as a table with a line each. */
export function keyTable(keys: readonly ListedKey[]): string {
  const head = ["NAME", "KEY", "METADATA", "MODELS", "LIMITS", "EXPIRES"];
  const rows = keys.map((key) => [
    key.isReplaced ? `${key.name} (replaced)` : key.name,
    `${key.shown}...`,
    Object.entries(key.metadata)
      .map(
        ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
      )
      .join(",") || "-",
    key.models?.join(",") ?? "all",
    key.limits.map(limitText).join(", ") || "-",
    key.expires === undefined ? "never" : timeText(key.expires),
  ]);
  return textTable(head, rows);
}

/** Returns the keys as JSON, without digests. */
export function keyJson(keys: readonly ListedKey[]): string {
  const shown = keys.map(({ digest: _, id: __, created, expires, ...key }) => ({
    ...key,
    created: timeText(created),
    expires: expires === undefined ? null : timeText(expires),
  }));
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

/** Returns what a reviewer would ask about keys: those that never expire, and those without any limit. */
export function keyFindings(keys: readonly ListedKey[]): readonly string[] {
  const count = (found: readonly ListedKey[], what: string) =>
    found.length === 0 ? [] : [`${found.length} ${found.length === 1 ? "key" : "keys"} ${what}`];
  return [
    ...count(
      keys.filter(({ expires }) => expires === undefined),
      "without an expiry",
    ),
    ...count(
      keys.filter(({ limits }) => limits.length === 0),
      "without a limit or a budget",
    ),
  ];
}

const UNITS = { requests: "requests", tokens: "tokens", cost: "US dollars" } as const;

/** Formats a limit: `50 US dollars/month`. */
export function limitText({ counts, amount, period }: KeyLimit): string {
  return `${amount} ${UNITS[counts]}/${period}`;
}

function timeText(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
