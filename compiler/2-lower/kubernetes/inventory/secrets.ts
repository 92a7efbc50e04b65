import { pemCertificates } from "../../../../runtime/tls/ca-certificates.ts";
import { childOf, Diagnostics, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { KeyedData, Manifest, ObjectReference } from "../../../manifests/manifests.ts";
import type { SecretContent } from "../../../model/secret-contents.ts";
import type { MountedFile } from "../../../model/texts.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { resourceName } from "./inventory.ts";
import { follow, type ReferenceContext } from "./references.ts";

/** What a policy reads of an object that is mounted. */
interface MountUse extends ObjectReference {
  /** The resource that refers to it. */
  readonly from: Manifest;
  /** Whose pods mount it. */
  readonly gateway: Manifest;
  readonly origin: Origin;
}

/** What a policy reads of a Secret. */
export interface SecretUse extends MountUse {
  /** The keys that are read; undefined for all. */
  readonly keys: readonly string[] | undefined;
  /** What they are read as; those of authorities (`ca.cert`) are authorities in any case. */
  readonly content: SecretContent;
}

/** Reports why the keys of a Secret can't be read, and mounts nothing. Returns whether they can. */
export function checkSecret(
  { keys = [], content, from, gateway, origin, ...to }: SecretUse,
  context: PolicyContext,
): boolean {
  const own = new Diagnostics();
  const heard = { ...context, diagnostics: own };
  const secret = follow({ to, from, origin, kinds: ["Secret"] }, heard);
  if (secret?.spec !== undefined) {
    mountedName(secret, gateway, origin, heard);
    checkKeys(secret, secret.spec, keys, origin, heard);
    checkContents(secret, secret.spec, { keys, content, origin }, heard);
  }
  return hearAll(own, context);
}

/** The mounted files, NAME/KEY, of a Secret; the Gateway's pods will mount it. What is missing is reported. */
export function secretFiles(
  { keys, content, from, gateway, origin, ...to }: SecretUse,
  context: PolicyContext,
): readonly string[] {
  const secret = follow({ to, from, origin, kinds: ["Secret"] }, context);
  if (secret?.spec === undefined) return (keys ?? []).map((key) => `${to.name}/${key}`);
  const name = mountedName(secret, gateway, origin, context);
  if (name === undefined) return [];
  const { keys: found } = secret.spec;
  if (keys === undefined && found.length === 0) {
    const message = `every entry of ${resourceName(secret)} is read, so its keys have to be here (values are not needed)`;
    context.diagnostics.report("broken-rule", origin, { message });
  }
  checkKeys(secret, secret.spec, keys ?? [], origin, context);
  checkContents(secret, secret.spec, { keys: keys ?? found, content, origin }, context);
  mount(context.secrets, gateway, name);
  return (keys ?? found).map((key) => `${name}/${key}`);
}

/** Whether a Secret is known to have a key; the source of a reference says which namespace is meant. */
export function secretHasKey(
  name: string,
  key: string,
  { namespace }: Manifest,
  { inventory }: PolicyContext,
): boolean {
  return inventory.find("Secret", namespace, name)?.spec?.keys.includes(key) === true;
}

/** The mounted CA certificates of a ConfigMap (Gateway API: the key `ca.crt`). What is missing is reported. */
export function mountedConfigMap(
  { from, gateway, origin, ...to }: MountUse,
  context: PolicyContext,
): MountedFile {
  const found = follow({ to, from, origin, kinds: ["ConfigMap"] }, context);
  const name = found?.spec && mountedName(found, gateway, origin, context);
  if (found?.spec === undefined || name === undefined)
    return { kind: "configMap", file: `${to.name}/ca.crt` };
  checkKeys(found, found.spec, ["ca.crt"], origin, context);
  // An empty text stands for the one that the cluster has.
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

/** The mounted CA certificates of `caCertificateRefs`, which stands below `origin`; undefined without any. */
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

/** The mounted CA certificates of those of `caCertificateRefs` that can be read; what is wrong with the others is reported. */
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
    return hearAll(own, context) ? [found] : [];
  });
}

/** Passes diagnostics on; returns whether there were none. */
function hearAll({ list }: Diagnostics, { diagnostics }: PolicyContext): boolean {
  for (const each of list) diagnostics.add(each);
  return list.length === 0;
}

/**
 * What a gateway calls the folder of an object's entries: `NAME`, `NAME@NAMESPACE` when it is of another namespace than the
 * Gateway. Undefined where it can't get there, which is reported.
 */
export function mountedName(
  object: Manifest,
  { namespace }: Manifest,
  origin: Origin,
  { diagnostics, isDelivered }: ReferenceContext,
): string | undefined {
  if (object.namespace === namespace) return object.name;
  if (isDelivered) return `${object.name}@${object.namespace}`;
  diagnostics.report("secret-elsewhere", origin, { what: resourceName(object) });
  return undefined;
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
 * Reports entries that the data plane could not use, where the values are those that it gets: in a file that pods do not get
 * they are often placeholders. Of several that are read alike, as API keys are, some may be bad: those
 * admit nobody, and the others act.
 */
function checkContents(
  secret: Manifest,
  { problems }: KeyedData,
  { keys, content, origin }: Required<Pick<SecretUse, "content" | "origin">> & UsedKeys,
  { diagnostics, isDelivered }: ReferenceContext,
): void {
  if (!isDelivered) return;
  const found = keys.flatMap((key) => {
    const problem = problems[key]?.[key.startsWith("ca.") ? "authorities" : content];
    return problem === undefined ? [] : [{ what: resourceName(secret), key, problem }];
  });
  const isPartial = content === "apiKey" && found.length < keys.length;
  const code = isPartial ? "unusable-entry" : "broken-entry";
  for (const params of found) diagnostics.report(code, origin, params);
}

/** The keys that are read. */
interface UsedKeys {
  readonly keys: readonly string[];
}

/** Reports a listener's certificate that no handshake could use. */
export function checkCertificate(
  secret: Manifest,
  { problems }: KeyedData,
  origin: Origin,
  { diagnostics, isDelivered }: ReferenceContext,
): void {
  const problem = problems["tls.crt"]?.certificate;
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
