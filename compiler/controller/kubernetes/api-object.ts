import { recordOf, textField } from "./json-fields.ts";

/** A kind that the API server serves, by the version that is asked for. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** `httproutes`: what paths call it. */
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/** An object as the API server has it. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

/** metav1.ObjectMeta, as far as it is read. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
}

/** `gateway.networking.k8s.io/v1`. */
export function apiVersionOf({ group, version }: Pick<ResourceType, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The path of a kind: of one namespace, of all, or of one object. */
export function resourcePath(type: ResourceType, namespace?: string, name?: string): string {
  const { group, version, plural } = type;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = namespace === undefined || namespace === "" ? "" : `/namespaces/${namespace}`;
  return `${root}${place}/${plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}

/** `default/tools`; the name alone where there is no namespace. */
export function objectKey({ namespace = "", name }: ObjectMetadata): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/**
 * Parses an object of a list or a watch; `undefined` if it is not an object. Items of lists do not contain their own
 * kind.
 */
export function readObject(value: unknown, type: ResourceType): ApiObject | undefined {
  const record = recordOf(value);
  const metadata = recordOf(record?.metadata);
  const name = textField(metadata, "name");
  if (record === undefined || metadata === undefined || name === undefined) return undefined;
  return {
    ...record,
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    // The API server's own types.
    metadata: { ...metadata, name } as ObjectMetadata,
  };
}
