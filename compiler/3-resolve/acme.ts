import { intersectHostnames } from "../config/hostnames.ts";
import type { GatewayResource, ListenerResource } from "../config/resources.ts";
import { childOf, type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { AcmeCertificateNode, AcmeNode, AcmeUse } from "../ir/acme.ts";

/**
 * Returns the certificates that a gateway orders, once for each set of names; `undefined` if it orders none. Reports names that
 * no order can prove, and an account without a use.
 */
export function resolveAcme(
  { acme, listeners }: GatewayResource,
  diagnostics: Diagnostics,
): AcmeNode | undefined {
  const uses = listeners.flatMap((listener) => {
    const { certificate } = listener.tls ?? {};
    const isOrdered =
      certificate !== undefined && "kind" in certificate && certificate.kind === "acme";
    return isOrdered ? [{ listener, use: certificate }] : [];
  });
  const [first] = uses;
  if (first === undefined) {
    if (acme !== undefined) diagnostics.report("acme-unused", keyPlace(acme.origin), {});
    return undefined;
  }
  if (acme === undefined) {
    diagnostics.report("acme-without-account", keyPlace(first.use.origin), {});
    return undefined;
  }
  const plain = listeners.find(({ protocol }) => protocol === "HTTP");
  const certificates = new Map<string, AcmeCertificateNode>();
  for (const { listener, use } of uses) {
    const names = namesOf(listener, use, diagnostics);
    if (names === undefined) continue;
    const { challenge = plain === undefined ? "tls-alpn-01" : "http-01" } = use;
    if (challenge === "http-01" && plain === undefined)
      diagnostics.report("acme-without-http", childOf(use.origin, "challenge"), {});
    const key = [...names].sort().join();
    if (!certificates.has(key)) certificates.set(key, { names, challenge });
  }
  return { ...acme, certificates: [...certificates.values()] };
}

/** Returns the names of a certificate that a listener uses: those of `acme`, or its hostname. */
function acmeNames(
  { hostname }: Pick<ListenerResource, "hostname">,
  { names }: AcmeUse,
): readonly string[] {
  return names.length > 0 ? names : [hostname];
}

/** Returns the names; `undefined`, with a report, if no authority could issue a certificate for them over HTTP or TLS. */
function namesOf(
  listener: ListenerResource,
  use: AcmeUse,
  diagnostics: Diagnostics,
): readonly string[] | undefined {
  const { hostname } = listener;
  const names = acmeNames(listener, use);
  if (use.names.length === 0 && hostname.includes("*")) {
    diagnostics.report("acme-names", keyPlace(use.origin), { hostname });
    return undefined;
  }
  const refused = names.flatMap((name, index) => {
    const at = childOf(use.origin, "names", index);
    if (name.includes("*")) return [diagnostics.report("acme-wildcard", at, { name })];
    if (intersectHostnames(hostname, name) === name) return [];
    return [diagnostics.report("acme-name-elsewhere", at, { name, hostname })];
  });
  return refused.length === 0 ? names : undefined;
}
