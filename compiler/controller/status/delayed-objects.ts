import { resourceKind, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { CONTROLLER } from "../../status/conditions.ts";
import { type ApiObject, objectKey } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { ownerOf } from "../model/gateway-owner.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { DELAYED } from "./merged-status.ts";
import type { WantedStatus } from "./status-writer.ts";

/** Namespaces and generations that decide which objects wait. */
export interface Delays {
  /** Namespaces that wait, and until when in milliseconds since 1970. */
  readonly namespaces: ReadonlyMap<string, number>;
  /** The generations of objects that were compiled, by `KIND NAMESPACE/NAME`. */
  readonly compiled: ReadonlyMap<string, number>;
}

/** Returns the statuses with a condition on each object whose newest state waits for the turn of its namespace. */
export function withDelays(
  wanted: readonly WantedStatus[],
  { namespaces, compiled }: Delays,
  objects: WatchedObjects,
): readonly WantedStatus[] {
  if (namespaces.size === 0) return wanted;
  const delayed = new Map<string, { readonly object: ApiObject; readonly until: number }>();
  for (const { object } of objects.declared()) {
    const until = namespaces.get(object.metadata.namespace ?? "");
    const id = idOf(object);
    if (until !== undefined && compiled.get(id) !== object.metadata.generation)
      delayed.set(id, { object, until });
  }
  const known = wanted.map((each) => {
    const id = `${each.kind} ${each.key}`;
    const found = delayed.get(id);
    if (found === undefined) return each;
    delayed.delete(id);
    return { ...each, status: withDelay(each.status, found) };
  });
  const fresh = [...delayed.values()].flatMap((each): readonly WantedStatus[] => {
    const { object } = each;
    const status = firstStatus(object, objects);
    if (status === undefined) return [];
    const [kind = ""] = idOf(object).split(" ");
    const key = objectKey(object.metadata);
    return [{ kind, key, status: withDelay(status, each), generation: undefined }];
  });
  return [...known, ...fresh];
}

function idOf({ apiVersion, kind, metadata }: ApiObject): string {
  return `${resourceKind(splitApiVersion(apiVersion).group, kind) ?? kind} ${objectKey(metadata)}`;
}

/** Adds the condition to each entry of a route or policy, or to the object itself. */
function withDelay(
  status: object,
  { object, until }: { readonly object: ApiObject; readonly until: number },
): object {
  const time = new Date(until).toISOString().replace(/\.\d+Z$/, "Z");
  const condition = {
    ...{ type: DELAYED, status: "True", reason: "ExpensiveNamespace" },
    message:
      `the newest state is not in force: changes of namespace "${object.metadata.namespace}" take long to compile, ` +
      `and the next ones are compiled after ${time}`,
  };
  const added = (entry: unknown) => ({
    ...recordOf(entry),
    conditions: [...itemsField(entry, "conditions"), condition],
  });
  for (const list of ["parents", "ancestors"])
    if (recordOf(status)?.[list] !== undefined)
      return { ...status, [list]: itemsField(status, list).map(added) };
  return added(status);
}

/** Returns a status without conditions for an object that was not compiled before; `undefined` if it is not ours. */
function firstStatus(object: ApiObject, objects: WatchedObjects): object | undefined {
  const { apiVersion, spec, metadata } = object;
  const kind = resourceKind(splitApiVersion(apiVersion).group, object.kind) ?? "";
  const { namespace = "" } = metadata;
  const entry = { controllerName: CONTROLLER, conditions: [] };
  if (kind.endsWith("Route") || kind === "GatewayModel") {
    const own = itemsField(spec, "parentRefs").filter((each) => isOurs(each, namespace, objects));
    const parents = own.map((parentRef) => ({ parentRef, ...entry }));
    return parents.length === 0 ? undefined : { parents };
  }
  if (kind === "GatewayPolicy") {
    const ancestors = itemsField(spec, "targetRefs").map((each) => {
      const { group, kind: target, name, sectionName } = recordOf(each) ?? {};
      const section = sectionName === undefined ? {} : { sectionName };
      return { ancestorRef: { group, kind: target, namespace, name, ...section }, ...entry };
    });
    return ancestors.length === 0 ? undefined : { ancestors };
  }
  const isGateway = kind === "Gateway" && ownerOf(object, objects) === "ours";
  const isSet = kind === "ListenerSet" && isOurs(recordOf(spec)?.parentRef, namespace, objects);
  return isGateway || isSet || kind === "GatewayBackend" ? { conditions: [] } : undefined;
}

/** Whether a parent is a Gateway of this controller, or a ListenerSet of one. */
function isOurs(reference: unknown, from: string, objects: WatchedObjects): boolean {
  const { kind = "Gateway", namespace = from, name } = recordOf(reference) ?? {};
  const found = objects.find(String(kind), `${namespace}/${name}`);
  if (found === undefined) return false;
  if (kind === "Gateway") return ownerOf(found, objects) === "ours";
  const parent = recordOf(found.spec)?.parentRef;
  const isOfGateway = (textField(parent, "kind") ?? "Gateway") === "Gateway";
  return (
    kind === "ListenerSet" && isOfGateway && isOurs(parent, found.metadata.namespace ?? "", objects)
  );
}
