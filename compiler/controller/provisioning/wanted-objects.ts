import type { Json } from "../../model/json.ts";
import { type ApiObject, apiVersionOf, readObject } from "../kubernetes/api-object.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
import { OWNED, ownedTypes } from "./owned-types.ts";

/** The objects that run a Gateway, as its own: they end with it. */
export function wantedObjects(objects: readonly Json[], gateway: ApiObject): readonly ApiObject[] {
  const { name, uid } = gateway.metadata;
  const owner = {
    ...{ apiVersion: gateway.apiVersion, kind: gateway.kind, name, uid },
    ...{ controller: true, blockOwnerDeletion: true },
  };
  return objects.flatMap((value) => {
    const type = ownedTypes.find(
      (each) =>
        each.kind === textField(value, "kind") &&
        apiVersionOf(each) === textField(value, "apiVersion"),
    );
    const given = recordOf(recordOf(value)?.metadata);
    // Overlays cannot remove this label: unmarked objects are not watched.
    const labels = { ...recordOf(given?.labels), ...OWNED };
    const metadata = { ...given, labels, ownerReferences: [owner] };
    const object = type && readObject({ ...recordOf(value), metadata }, type);
    return object ?? [];
  });
}
