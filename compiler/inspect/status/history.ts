import type { Condition } from "./conditions.ts";

/** What conditions say beside what they are about. */
export interface Stamp {
  /** The `metadata.generation` that was looked at; undefined when the manifest does not say. */
  readonly generation: number | undefined;
  /** RFC 3339. */
  readonly now: string;
}

/**
 * A status as a controller would leave it: each condition with the generation that it is about, and the time of its last
 * change: that of the status in the manifest, while that says the same.
 */
export function withHistory(status: unknown, previous: unknown, stamp: Stamp): unknown {
  if (Array.isArray(status)) {
    const known = Array.isArray(previous) ? previous : [];
    return status.map((item: unknown) => withHistory(item, same(item, known), stamp));
  }
  if (typeof status !== "object" || status === null) return status;
  if (isCondition(status)) return stamped(status, previous, stamp);
  return Object.fromEntries(
    Object.entries(status).map(([name, value]) => [
      name,
      withHistory(value, member(previous, name), stamp),
    ]),
  );
}

function stamped(
  { type, status, reason, message }: Condition,
  previous: unknown,
  { generation, now }: Stamp,
): object {
  const time = member(previous, "lastTransitionTime");
  const isSame = member(previous, "status") === status && typeof time === "string";
  return {
    type,
    status,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: isSame ? time : now,
    reason,
    message,
  };
}

function isCondition(value: object): value is Condition {
  return ["type", "status", "reason", "message"].every((name) => Object.hasOwn(value, name));
}

/** What tells the items of a list apart: a condition's type, a listener's name, a parent's or ancestor's reference. */
const KEYS = ["type", "name", "parentRef", "ancestorRef"];

function same(item: unknown, known: readonly unknown[]): unknown {
  const key = KEYS.find((name) => member(item, name) !== undefined);
  if (key === undefined) return undefined;
  const wanted = JSON.stringify(sorted(member(item, key)));
  return known.find((each) => JSON.stringify(sorted(member(each, key))) === wanted);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
