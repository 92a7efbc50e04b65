import { pemCertificates } from "../../../runtime/tls/ca-certificates.ts";
import { cutBelow, MAX_LEVELS } from "../../model/nesting.ts";
import {
  CONTENTS_ANNOTATION,
  isReadByName,
  type SecretContents,
  secretContents,
} from "../../model/secret-contents.ts";
import { LOCK_ENTRY } from "../../model/tool-lock.ts";
import type { ApiObject, ResourceType } from "../kubernetes/api-object.ts";
import { hasOwnConditions } from "../kubernetes/field-managers.ts";
import { recordOf } from "../kubernetes/json-fields.ts";

/**
 * Reduces an object to the fields that are read. Of Secrets these are the names of entries that something reads by name,
 * and mistakes in all values; of ConfigMaps whether they contain readable authorities, and the lock and prices, which are compiled.
 */
export function keptObject(object: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, generation, labels, creationTimestamp } =
    object.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(generation === undefined ? {} : { generation }),
    ...(labels === undefined ? {} : { labels }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
  if (object.kind === "Namespace") return { ...head(object), metadata };
  if (object.kind === "Secret") {
    const { type } = object;
    const entries = sorted(object.data);
    const read = entries.filter(([key]) => isReadByName(key, entries.length));
    const data = Object.fromEntries(read.map(([key]) => [key, ""]));
    const annotations = { [CONTENTS_ANNOTATION]: JSON.stringify(contentsOf(entries)) };
    return { ...head(object), metadata: { ...metadata, annotations }, type, data };
  }
  // An object that is nested too deeply is still reported.
  if (object.kind !== "ConfigMap") {
    const kept = { ...cutBelow(object, MAX_LEVELS + 1), metadata };
    return hasOwnConditions(object) ? { ...kept, [OWN_CONDITIONS]: true } : kept;
  }
  return { ...head(object), metadata, data: configEntries(object.data) };
}

/**
 * Selector of the objects of a kind that are read; all if `undefined`. Releases of Helm are large Secrets that no
 * gateway reads.
 */
export function fieldSelectorOf({ kind }: ResourceType): string | undefined {
  return kind === "Secret" ? "type!=helm.sh/release.v1" : undefined;
}

/** The manifest of an object as it is kept, for the compiler: what was declared, without status. */
export function manifestText(object: ApiObject): string {
  const { apiVersion, kind, status: _, [OWN_CONDITIONS]: _own, ...rest } = object;
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  return JSON.stringify({ apiVersion, kind, ...rest, metadata });
}

/** The field of an object as it is kept that says whether its conditions are what this controller wrote. */
export const OWN_CONDITIONS = "ownConditions";

/** The entry of a ConfigMap that gateways read: certificates of authorities (Gateway API). */
export const CA = "ca.crt";

function head({ apiVersion, kind }: ApiObject): Pick<ApiObject, "apiVersion" | "kind"> {
  return { apiVersion, kind };
}

/** The entries of a ConfigMap that say something to a compiler, which tells of authorities that can't be read. */
function configEntries(data: unknown): Readonly<Record<string, string>> {
  const kept = sorted(data).flatMap(([key, value]): readonly (readonly [string, string])[] => {
    if (key === CA) {
      const isReadable = pemCertificates(value).kind === "certificates";
      return [[key, isReadable ? "" : NO_CERTIFICATE]];
    }
    return key === LOCK_ENTRY || isCatalog(key, value) ? [[key, value]] : [];
  });
  return Object.fromEntries(kept);
}

/** Whether an entry has prices of models: other entries with JSON need no memory. */
function isCatalog(key: string, value: string): boolean {
  return key.endsWith(".json") && /^\s*\{/.test(value) && value.includes('"providers"');
}

function contentsOf(entries: readonly (readonly [string, string])[]): SecretContents {
  const values = entries.map(([key, value]) => [key, Buffer.from(value, "base64")] as const);
  return secretContents(new Map(values), false);
}

function sorted(data: unknown): readonly (readonly [string, string])[] {
  return Object.entries(recordOf(data) ?? {})
    .map(([key, value]) => [key, String(value)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Placeholder for unreadable authorities. */
const NO_CERTIFICATE = "unreadable";
