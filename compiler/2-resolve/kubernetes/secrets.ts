import type { Origin } from "../../diagnostics.ts";
import type { Manifest } from "../../manifests.ts";
import { titleOf } from "./inventory.ts";
import type { PolicyContext } from "./policies.ts";
import { follow } from "./references.ts";

/** What a policy reads of a Secret. */
export interface SecretUse {
  readonly name: string;
  /** The keys that are read; undefined for all. */
  readonly keys: readonly string[] | undefined;
  /** The resource that refers to it. */
  readonly from: Manifest;
  /** Whose pods mount it. */
  readonly gateway: Manifest;
  readonly origin: Origin;
}

/** The mounted files, NAME/KEY, of a Secret; the Gateway's pods will mount it. What is missing is reported. */
export function secretFiles(
  { name, keys, from, gateway, origin }: SecretUse,
  context: PolicyContext,
): readonly string[] {
  const { diagnostics, secrets } = context;
  const secret = follow({ to: { name }, from, origin, kinds: ["Secret"] }, context);
  if (secret?.spec === undefined) return (keys ?? []).map((key) => `${name}/${key}`);
  const what = titleOf(secret);
  if (secret.namespace !== gateway.namespace) {
    diagnostics.report("secret-elsewhere", origin, { what });
    return [];
  }
  const { isComplete, keys: found } = secret.spec;
  if (keys === undefined && found.length === 0) {
    const message = `every entry of ${what} is read, so its keys have to be here (values are not needed)`;
    diagnostics.report("broken-rule", origin, { message });
  }
  for (const key of keys ?? []) {
    if (isComplete && !found.includes(key))
      diagnostics.report("missing-key", origin, { what, key });
  }
  const id = `${gateway.namespace}/${gateway.name}`;
  const mounted = secrets.get(id) ?? new Set();
  secrets.set(id, mounted.add(name));
  return (keys ?? found).map((key) => `${name}/${key}`);
}
