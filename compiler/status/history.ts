import type { Condition } from "./conditions.ts";

/** Time of a condition that was never written, as in the Gateway API's definitions. */
const NEVER = "1970-01-01T00:00:00Z";

/**
 * Adds the generation (`metadata.generation`; `undefined` if the manifest has none) and the time of the last transition to
 * each condition. The time is taken from the previous status if that has the same value, else it is `changed`; by default a
 * fixed time, so that the same manifests always have the same status.
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

/** Identifying fields of list items: a condition's type, a listener's name, a parent's or ancestor's reference. */
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
