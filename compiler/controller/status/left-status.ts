import type { ApiObject } from "../kubernetes/api-object.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import { OWN_CONDITIONS } from "../model/watched-object.ts";

const LISTENING: readonly string[] = ["Gateway", "ListenerSet", "XListenerSet"];

/** What the Gateway API's definitions say of a Gateway that no controller has looked at. */
const WAITING = ["Accepted", "Programmed"].map((type) => {
  return { type, status: "Unknown", reason: "Pending", message: "Waiting for controller" };
});

/**
 * The status of what has listeners and is not this controller's any more: its class is another's, or gone. What another
 * controller has said since stays; undefined: there is nothing to take back.
 */
export function leftStatus(
  object: ApiObject,
): { readonly status: object; readonly generation: undefined } | undefined {
  if (!LISTENING.includes(object.kind) || object[OWN_CONDITIONS] !== true) return undefined;
  const { addresses, attachedListenerSets } = recordOf(object.status) ?? {};
  const status = {
    conditions: WAITING,
    listeners: [],
    ...(addresses === undefined ? {} : { addresses: [] }),
    ...(attachedListenerSets === undefined ? {} : { attachedListenerSets: 0 }),
  };
  return { status, generation: undefined };
}
