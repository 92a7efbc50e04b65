import type { Condition } from "./conditions.ts";

/** The time of a condition that was never written: as the Gateway API's own definitions have it. */
const NEVER = "1970-01-01T00:00:00Z";

/**
 * A status as a controller would leave it: each condition with the generation that it is about (`metadata.generation`;
 * undefined when the manifest does not say), and the time of its last change as the status in the manifest has it, while
 * that says the same, else `changed`. Without a time the same manifests have the same status whenever it is asked for.
 */
export function withHistory(
  status: unknown,
  previous: unknown,
  generation: number | undefined,
  changed = NEVER,
): unknown {
  if (Array.isArray(status)) {
    const known = Array.isArray(previous) ? previous : [];
    return status.map((item: unknown) => withHistory(item, same(item, known), generation, changed));
  }
  if (typeof status !== "object" || status === null) return status;
  if (isCondition(status)) return stamped(status, previous, generation, changed);
  return Object.fromEntries(
    Object.entries(status).map(([name, value]) => [
      name,
      withHistory(value, member(previous, name), generation, changed),
    ]),
  );
}

function stamped(
  { type, status, reason, message }: Condition,
  previous: unknown,
  generation: number | undefined,
  changed: string,
): object {
  const time = member(previous, "lastTransitionTime");
  const isSame = member(previous, "status") === status && typeof time === "string";
  return {
    type,
    status,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: isSame ? time : changed,
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
