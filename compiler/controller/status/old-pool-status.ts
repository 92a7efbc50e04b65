import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import type { OwnEntry } from "./merged-status.ts";

const VERSION = "inference.networking.x-k8s.io/v1alpha2";

/** The list's value while no Gateway uses a pool (v1alpha2). */
const NO_PARENT = {
  parentRef: { kind: "Status", name: "default" },
  conditions: [
    { type: "Accepted", status: "Unknown", reason: "Pending", message: "Waiting for controller" },
  ],
};

/** Whether an object is an InferencePool of v1alpha2, whose status has other fields. */
export function isOldPool({ kind, apiVersion }: ApiObject): boolean {
  return kind === "InferencePool" && apiVersion === VERSION;
}

/** Whether an entry says that no Gateway uses the pool. Controllers remove it when they add their own. */
export function isPlaceholder(entry: unknown): boolean {
  const reference = recordOf(entry)?.parentRef;
  return (
    textField(reference, "kind") === NO_PARENT.parentRef.kind &&
    textField(reference, "name") === NO_PARENT.parentRef.name
  );
}

/**
 * The status of an InferencePool in the words of v1alpha2: `parent` and not `parents`, Gateways by their apiVersion, and
 * nobody says who wrote an entry. `wanted`: that of v1.
 */
export function oldPoolStatus(
  wanted: object | undefined,
  pool: ApiObject,
  isOwn: OwnEntry,
): object {
  const parent = itemsField(wanted, "parents").map((each) => {
    const { parentRef, conditions } = recordOf(each) ?? {};
    const { group, ...reference } = recordOf(parentRef) ?? {};
    return { parentRef: { apiVersion: `${group}/v1`, ...reference }, conditions };
  });
  const known = itemsField(pool.status, "parent");
  const isLast = parent.length === 0 && known.length > 0 && known.every(isOwn);
  return { parent: isLast ? [NO_PARENT] : parent };
}
