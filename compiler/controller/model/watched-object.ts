import { createPrivateKey, X509Certificate } from "node:crypto";
import { pemCertificates } from "../../../runtime/tls/ca-certificates.ts";
import { cutBelow, MOST_LEVELS } from "../../model/nesting.ts";
import { LOCK_ENTRY } from "../../model/tool-lock.ts";
import type { ApiObject, ResourceType } from "../kubernetes/api-object.ts";
import { recordOf } from "../kubernetes/json-fields.ts";

/**
 * What is kept of an object: nothing that nobody reads. Values stay where data planes need them: those of Secrets, and
 * the certificates and locks of ConfigMaps.
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
  // What is too deep to be read is still told of.
  if (object.kind !== "ConfigMap") return { ...cutBelow(object, MOST_LEVELS + 1), metadata };
  const data = recordOf(object.data) ?? {};
  const kept = Object.entries(data).map(([key, value]) => [
    key,
    key === CA || key === LOCK_ENTRY ? value : "",
  ]);
  return { ...head(object), metadata, data: Object.fromEntries(kept) };
}

/** Which objects of a kind are read; undefined: all. Releases of Helm are large Secrets that no gateway reads. */
export function fieldSelectorOf({ kind }: ResourceType): string | undefined {
  return kind === "Secret" ? "type!=helm.sh/release.v1" : undefined;
}

/**
 * The manifest of an object for the compiler: what was declared, without status and without the values of Secrets. The
 * same text, the same program: of certificates and keys only those that can be read are there, and of other entries the
 * names, but for a lock, which becomes a part of the program.
 */
export function manifestText(object: ApiObject): string {
  const { apiVersion, kind, status: _, ...rest } = object;
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  return JSON.stringify({ apiVersion, kind, ...rest, metadata, ...keysOnly(object) });
}

/** The entry of a ConfigMap that gateways read: certificates of authorities (Gateway API). */
const CA = "ca.crt";

function head({ apiVersion, kind }: ApiObject): Pick<ApiObject, "apiVersion" | "kind"> {
  return { apiVersion, kind };
}

function keysOnly({ kind, data }: ApiObject): { readonly data?: unknown } {
  if (kind !== "Secret" && kind !== "ConfigMap") return {};
  const values = Object.entries(recordOf(data) ?? {}).map(([key, value]): [string, string] => {
    const text = String(value);
    return [key, kind === "Secret" ? Buffer.from(text, "base64").toString("utf8") : text];
  });
  const kept = values
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]): readonly (readonly [string, string])[] => {
      const isConfigMap = kind === "ConfigMap";
      if (isReadable(key, value)) return [[key, isConfigMap && key === LOCK_ENTRY ? value : ""]];
      // The compiler tells of authorities that can't be read.
      return isConfigMap ? [[key, NO_CERTIFICATE]] : [];
    });
  return { data: Object.fromEntries(kept) };
}

/** What stands for authorities that can't be read. */
const NO_CERTIFICATE = "unreadable";

/** Whether an entry that the Gateway API asks certificates or a key of has them (PEM). */
function isReadable(key: string, text: string): boolean {
  const read = PEM_ENTRIES[key];
  if (read === undefined) return true;
  try {
    read(text);
    return true;
  } catch {
    return false;
  }
}

function readCertificates(text: string): void {
  const found = pemCertificates(text);
  if (found.kind === "problem") throw new Error(found.problem);
}

/** What reads the entries of TLS; it throws where they are none. */
const PEM_ENTRIES: Readonly<Record<string, (text: string) => unknown>> = {
  [CA]: readCertificates,
  "tls.crt": (text) => new X509Certificate(text),
  "tls.key": (text) => createPrivateKey(text),
};
