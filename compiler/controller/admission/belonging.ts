import { OUR_GROUPS, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { isOurClass, ownerOf } from "../model/gateway-owner.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";

/**
 * Whether an object is for gwc's Gateways: kinds of the Gateway API belong to all controllers. An object with a missing
 * parent counts as ours if no other controller has a class.
 */
export function isForUs(object: ApiObject, objects: WatchedObjects): boolean {
  const { apiVersion, kind, metadata, spec } = object;
  const { namespace = "" } = metadata;
  if (!objects.isRead(object)) return false;
  if (OUR_GROUPS.includes(splitApiVersion(apiVersion).group)) return true;
  switch (kind) {
    case "GatewayClass":
      return isOurClass(object);
    case "Gateway":
      return isOfOurClass(object, objects);
    case "ListenerSet":
    case "XListenerSet":
      return isOurParent(recordOf(spec)?.parentRef, namespace, objects);
    case "HTTPRoute":
    case "GRPCRoute":
    case "TCPRoute":
    case "TLSRoute":
      return itemsField(spec, "parentRefs").some((each) => isOurParent(each, namespace, objects));
    default:
      return isAlone(objects);
  }
}

function isOurParent(reference: unknown, namespace: string, objects: WatchedObjects): boolean {
  const kind = textField(reference, "kind") ?? "Gateway";
  const key = `${textField(reference, "namespace") ?? namespace}/${textField(reference, "name")}`;
  if (kind === "Gateway") {
    const gateway = objects.find("Gateway", key);
    return gateway === undefined ? isAlone(objects) : isOfOurClass(gateway, objects);
  }
  // A route of a Service is a mesh's.
  if (kind !== "ListenerSet" && kind !== "XListenerSet") return false;
  const found = objects.find(kind, key);
  if (found === undefined) return isAlone(objects);
  const { parentRef } = recordOf(found.spec) ?? {};
  return isOurParent({ ...recordOf(parentRef), kind: "Gateway" }, namespaceOf(found), objects);
}

function isOfOurClass(gateway: ApiObject, objects: WatchedObjects): boolean {
  const owner = ownerOf(gateway, objects);
  return owner === "nobody's" ? isAlone(objects) : owner === "ours";
}

/** Whether there are classes, and all of them are ours. */
function isAlone(objects: WatchedObjects): boolean {
  const classes = [...objects.ofKind("GatewayClass")];
  return classes.length > 0 && classes.every(isOurClass);
}

function namespaceOf({ metadata }: ApiObject): string {
  return metadata.namespace ?? "";
}
