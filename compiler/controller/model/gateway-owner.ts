import { CONTROLLER } from "../../status/conditions.ts";
import { type ApiObject, objectKey } from "../kubernetes/api-object.ts";
import { textField } from "../kubernetes/json-fields.ts";
import type { WatchedObjects } from "./watched-objects.ts";

/** Returns the controller of a Gateway by its class; nobody while the class does not exist. */
export type GatewayOwner = "ours" | "another's" | "nobody's";

/** Which controller a Gateway is for. */
export function ownerOf(gateway: ApiObject, objects: WatchedObjects): GatewayOwner {
  const name = textField(gateway.spec, "gatewayClassName") ?? "";
  const found = objects.find("GatewayClass", name);
  if (found === undefined) return "nobody's";
  return isOurClass(found) ? "ours" : "another's";
}

/** Gateways whose class is another controller's, by `NAMESPACE/NAME`. */
export function othersGateways(objects: WatchedObjects): ReadonlyMap<string, ApiObject> {
  const others = [...objects.ofKind("Gateway")].filter(
    (each) => objects.isRead(each) && ownerOf(each, objects) === "another's",
  );
  return new Map(others.map((each) => [objectKey(each.metadata), each]));
}

/** Whether a GatewayClass is for this controller. */
export function isOurClass({ spec }: ApiObject): boolean {
  return textField(spec, "controllerName") === CONTROLLER;
}
