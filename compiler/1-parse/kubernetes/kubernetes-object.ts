import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { ConfigValue } from "../../schema/config-values.ts";

/** A value with the fields of a Kubernetes resource. */
export type KubernetesObject = { readonly apiVersion: string; readonly kind: string } & {
  readonly [key: string]: ConfigValue;
};

/** Whether a document is a Kubernetes manifest: it has an `apiVersion` and a `kind`. */
export function isKubernetes(value: ConfigValue): value is KubernetesObject {
  return (
    typeof value === "object" &&
    value !== null &&
    "apiVersion" in value &&
    "kind" in value &&
    typeof value.apiVersion === "string" &&
    value.apiVersion !== "" &&
    typeof value.kind === "string" &&
    value.kind !== ""
  );
}

/** Returns the fields of a value; none if it has no fields. */
export function objectFields(
  value: ConfigValue | undefined,
): Readonly<Record<string, ConfigValue>> {
  return isJsonObject(value) ? (value as Readonly<Record<string, ConfigValue>>) : {};
}
