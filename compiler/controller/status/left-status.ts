import type { ApiObject } from "../kubernetes/api-object.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import { OWN_CONDITIONS } from "../model/watched-object.ts";

const LISTENING: readonly string[] = ["Gateway", "ListenerSet", "XListenerSet"];

/** Default conditions of the Gateway API's definitions, before a controller has looked at a Gateway. */
const WAITING = ["Accepted", "Programmed"].map((type) => {
  return { type, status: "Unknown", reason: "Pending", message: "Waiting for controller" };
});

/**
 * Returns the status of an object with listeners that no longer belongs to this controller, because its class changed
 * or is gone. Conditions that another controller has written stay; `undefined` if nothing has to be withdrawn.
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
