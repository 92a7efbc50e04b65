import { pemCertificates } from "../../../../runtime/tls/ca-certificates.ts";
import { childOf, Diagnostics, type Origin } from "../../../diagnostics/diagnostic.ts";
import { messageOf } from "../../../diagnostics/messages/index.ts";
import type { KeyedData, Manifest, ObjectReference } from "../../../manifests/manifests.ts";
import {
  MAX_ENTRIES,
  type SecretContent,
  type SecretContents,
} from "../../../model/secret-contents.ts";
import type { MountedFile } from "../../../model/texts.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { resourceName } from "./inventory.ts";
import { follow, type ReferenceContext } from "./references.ts";

/** An object that a policy needs mounted. */
interface MountUse extends ObjectReference {
  /** The resource with the reference. */
  readonly from: Manifest;
  /** The Gateway whose pods mount it. */
  readonly gateway: Manifest;
  readonly origin: Origin;
}

/** A Secret that a policy needs mounted. */
export interface SecretUse extends MountUse {
  /** The keys that are read. */
  readonly keys: readonly string[];
  /** Format in which the values are parsed; CA certificates (`ca.cert`) are always parsed as such. */
  readonly content: SecretContent;
}

/** Reports why the keys of a Secret cannot be read, without mounting it. Returns whether they can. */
export function checkSecret(
  { keys, content, from, gateway, origin, ...to }: SecretUse,
  context: PolicyContext,
): boolean {
  const own = new Diagnostics();
  const collecting = { ...context, diagnostics: own };
  const secret = follow({ to, from, origin, kinds: ["Secret"] }, collecting);
  if (secret?.spec !== undefined) {
    mountedName(secret, gateway, origin, collecting);
    checkKeys(secret, secret.spec, keys, origin, collecting);
    checkContents(secret, secret.spec, { keys, content, origin }, collecting);
  }
  return passOn(own, context);
}

/** Returns the mounted files (NAME/KEY) of a Secret and makes the Gateway's pods mount it; reports missing parts. */
export function secretFiles(
  { keys, content, from, gateway, origin, ...to }: SecretUse,
  context: PolicyContext,
): readonly string[] {
  const secret = follow({ to, from, origin, kinds: ["Secret"] }, context);
  if (secret?.spec === undefined) return keys.map((key) => `${to.name}/${key}`);
  const name = mountedName(secret, gateway, origin, context);
  checkKeys(secret, secret.spec, keys, origin, context);
  if (checkContents(secret, secret.spec, { keys, content, origin }, context))
    mount(context.secrets, gateway, name);
  return keys.map((key) => `${name}/${key}`);
}

/** Maximum number of Secrets with the API keys of a policy, and of their entries. */
const MAX_KEY_SECRETS = 1_000;
const MAX_KEYS = 200_000;

/**
 * Returns the mounted folders of Secrets whose entries are API keys, and makes the Gateway's pods mount them; reports
 * missing and unreadable parts. `names` are those of the namespace of `from`.
 */
export function keyFolders(
  names: readonly string[],
  { from, gateway, origin }: Pick<MountUse, "from" | "gateway" | "origin">,
  context: PolicyContext,
): readonly string[] {
  const { diagnostics } = context;
  const what = "the selection of API keys";
  if (names.length > MAX_KEY_SECRETS) {
    diagnostics.report("too-many-entries", origin, {
      what,
      unit: "Secrets",
      limit: MAX_KEY_SECRETS,
    });
    return [];
  }
  const found = names.flatMap((name) => {
    const secret = follow({ to: { name }, from, origin, kinds: ["Secret"] }, context);
    const folder = secret && mountedName(secret, gateway, origin, context);
    return secret?.spec === undefined || folder === undefined
      ? []
      : [{ secret, folder, data: secret.spec }];
  });
  if (found.reduce((sum, { data }) => sum + data.contents.count, 0) > MAX_KEYS) {
    diagnostics.report("too-many-entries", origin, { what, unit: "entries", limit: MAX_KEYS });
    return [];
  }
  return found.flatMap(({ secret, folder, data }) => {
    if (!checkApiKeys(secret, data, origin, context)) return [];
    mount(context.secrets, gateway, folder);
    return [folder];
  });
}

/** Whether a Secret is known to have a key; `namespace` is that of the resource with the reference. */
export function secretHasKey(
  name: string,
  key: string,
  { namespace }: Manifest,
  { inventory }: PolicyContext,
): boolean {
  return inventory.find("Secret", namespace, name)?.spec?.keys.includes(key) === true;
}

/** Returns the mounted CA certificates of a ConfigMap (Gateway API: the key `ca.crt`); reports missing parts. */
export function mountedConfigMap(
  { from, gateway, origin, ...to }: MountUse,
  context: PolicyContext,
): MountedFile {
  const found = follow({ to, from, origin, kinds: ["ConfigMap"] }, context);
  if (found?.spec === undefined) return { kind: "configMap", file: `${to.name}/ca.crt` };
  const name = mountedName(found, gateway, origin, context);
  checkKeys(found, found.spec, ["ca.crt"], origin, context);
  // An empty value is a placeholder for the value in the cluster.
  const text = found.spec.texts["ca.crt"] ?? "";
  const read = text === "" ? undefined : pemCertificates(text);
  if (read?.kind === "problem") {
    const { problem } = read;
    const what = resourceName(found);
    context.diagnostics.report("broken-entry", origin, { what, key: "ca.crt", problem });
  }
  mount(context.configMaps, gateway, name);
  return { kind: "configMap", file: `${name}/ca.crt` };
}

/** Returns the mounted CA certificates of `caCertificateRefs` below `origin`; `undefined` if absent. */
export function mountedAuthorities(
  references: readonly ObjectReference[] | undefined,
  { from, gateway, origin }: Pick<MountUse, "from" | "gateway" | "origin">,
  context: PolicyContext,
): readonly MountedFile[] | undefined {
  return references?.map((reference, index) => {
    const at = childOf(origin, "caCertificateRefs", index);
    return mountedConfigMap({ ...reference, from, gateway, origin: at }, context);
  });
}

/** Returns the readable CA certificates of `caCertificateRefs`, and reports the others. */
export function usableAuthorities(
  references: readonly ObjectReference[],
  { from, gateway, origin }: Pick<MountUse, "from" | "gateway" | "origin">,
  context: PolicyContext,
): readonly MountedFile[] {
  return references.flatMap((reference, index) => {
    const at = childOf(origin, "caCertificateRefs", index);
    const own = new Diagnostics();
    const use = { ...reference, from, gateway, origin: at };
    const found = mountedConfigMap(use, { ...context, diagnostics: own });
    return passOn(own, context) ? [found] : [];
  });
}

/** Passes diagnostics on; returns whether none is an error. */
function passOn({ list }: Diagnostics, { diagnostics }: PolicyContext): boolean {
  for (const each of list) diagnostics.add(each);
  return list.every(({ code }) => messageOf(code).severity !== "error");
}

/**
 * Returns the folder name of an object's entries at the gateway. It is `NAME` in the namespace of the Gateway. From
 * another namespace, the controller delivers the object as `NAME@NAMESPACE`; otherwise pods mount the copy
 * `NAMESPACE.NAME`, which the user makes (reported).
 */
export function mountedName(
  object: Manifest,
  { namespace }: Manifest,
  origin: Origin,
  { diagnostics, isDelivered }: ReferenceContext,
): string {
  if (object.namespace === namespace) return object.name;
  if (isDelivered) return `${object.name}@${object.namespace}`;
  const copy = `${object.namespace}.${object.name}`;
  diagnostics.report("secret-elsewhere", origin, { what: resourceName(object), copy, namespace });
  return copy;
}

function checkKeys(
  object: Manifest,
  { isComplete, keys: found }: KeyedData,
  keys: readonly string[],
  origin: Origin,
  { diagnostics }: PolicyContext,
): void {
  for (const key of keys) {
    if (isComplete && !found.includes(key))
      diagnostics.report("missing-key", origin, { what: resourceName(object), key });
  }
}

/**
 * Reports entries that the data plane cannot use, if the values are the real ones: in files, they are often
 * placeholders. Returns whether the Secret is small enough to be read.
 */
function checkContents(
  secret: Manifest,
  { contents }: KeyedData,
  { keys, content, origin }: Pick<SecretUse, "keys" | "content" | "origin">,
  { diagnostics, isDelivered }: ReferenceContext,
): boolean {
  if (isTooLarge(secret, contents, origin, diagnostics)) return false;
  if (!isDelivered) return true;
  for (const key of keys) {
    const problem = contents.entries[key]?.[key === "ca.cert" ? "authorities" : content];
    if (problem !== undefined)
      diagnostics.report("broken-entry", origin, { what: resourceName(secret), key, problem });
  }
  return true;
}

/**
 * Does the same for a Secret whose entries are API keys. Some may be invalid: these admit nobody, and the others are
 * effective.
 */
function checkApiKeys(
  secret: Manifest,
  { isComplete, contents }: KeyedData,
  origin: Origin,
  { diagnostics, isDelivered }: ReferenceContext,
): boolean {
  if (isTooLarge(secret, contents, origin, diagnostics)) return false;
  const what = resourceName(secret);
  const { count, unreadable } = contents;
  if (isComplete && count === 0)
    diagnostics.report("broken-rule", origin, { message: `${what} has no entries with API keys` });
  if (!isDelivered) return true;
  const code = unreadable.count < count ? "unusable-entry" : "broken-entry";
  for (const { key, problem } of unreadable.first)
    diagnostics.report(code, origin, { what, key, problem });
  const others = unreadable.count - unreadable.first.length;
  if (others > 0) diagnostics.report("unusable-entries", origin, { what, count: others });
  return true;
}

function isTooLarge(
  secret: Manifest,
  { count }: SecretContents,
  origin: Origin,
  diagnostics: Diagnostics,
): boolean {
  if (count <= MAX_ENTRIES) return false;
  const what = resourceName(secret);
  diagnostics.report("too-many-entries", origin, { what, unit: "entries", limit: MAX_ENTRIES });
  return true;
}

/** Reports a listener's certificate that no handshake could use. */
export function checkCertificate(
  secret: Manifest,
  { contents }: KeyedData,
  origin: Origin,
  { diagnostics, isDelivered }: ReferenceContext,
): void {
  if (isTooLarge(secret, contents, origin, diagnostics)) return;
  const problem = contents.entries["tls.crt"]?.certificate;
  if (problem !== undefined && isDelivered)
    diagnostics.report("broken-entry", origin, {
      ...{ what: resourceName(secret), key: "tls.crt", problem },
    });
}

function mount(
  mounts: Map<string, Set<string>>,
  { namespace, name: gateway }: Manifest,
  name: string,
): void {
  const id = `${namespace}/${gateway}`;
  mounts.set(id, (mounts.get(id) ?? new Set()).add(name));
}
