import { childOf, Diagnostics, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ObjectReference } from "../../../manifests/manifests.ts";
import type { BackendTlsConfig } from "../../../model/server-policies.ts";
import { type Section, trafficText } from "../../../model/traffic.ts";
import { resourceName } from "../inventory/inventory.ts";
import { checkSecret, type SecretUse, secretFiles } from "../inventory/secrets.ts";
import type { PolicyContext } from "../policies/policy-context.ts";

/**
 * Returns the client certificate of a Gateway for all backends over TLS (GEP-3155), which policies can override.
 * If the reference is broken, only `certOrigin` is set: the routes that need the certificate are closed.
 */
export function gatewayCertificate(
  gateway: Manifest,
  context: PolicyContext,
): Partial<Pick<BackendTlsConfig, "cert" | "key" | "certOrigin">> {
  const use = secretUse(gateway);
  if (use === undefined) return {};
  const { origin } = use;
  context.sections.meet(sectionOf(origin), ["upstreamTls"]);
  if (!checkSecret(use, { ...context, diagnostics: new Diagnostics() }))
    return { certOrigin: origin };
  const [cert = "", key = ""] = secretFiles(use, context);
  return {
    cert: { kind: "secret", file: cert },
    key: { kind: "secret", file: key },
    certOrigin: origin,
  };
}

/**
 * Reports a Gateway's client certificate that cannot be read, or that no backend of its routes uses. The routes
 * must have been read before.
 */
export function checkGatewayCertificate(gateway: Manifest, context: PolicyContext): void {
  const use = secretUse(gateway);
  if (use === undefined || !checkSecret(use, context) || gateway.isPartial === true) return;
  const { origin } = use;
  if (context.sections.useOf(origin) === "acting") return;
  // Not an error: a Gateway exists before its routes, which may add such a backend later.
  context.diagnostics.report("policy-without-effect", keyPlace(origin), {
    policy: resourceName(gateway),
    field: "clientCertificateRef",
    actsOn: trafficText(["upstreamTls"]),
  });
}

function secretUse(gateway: Manifest): SecretUse | undefined {
  const reference = referenceOf(gateway);
  if (reference === undefined) return undefined;
  const { to, origin } = reference;
  const keys = ["tls.crt", "tls.key"] as const;
  return { ...to, keys, content: "certificate", from: gateway, gateway, origin };
}

function sectionOf(origin: Origin): Section {
  return { name: "clientCertificateRef", actsOn: ["upstreamTls"], origin };
}

/** Returns the reference to the Secret, at its place in Gateway API or at its former place. */
function referenceOf(
  gateway: Manifest,
): { readonly to: ObjectReference; readonly origin: Origin } | undefined {
  if (gateway.kind !== "Gateway") return undefined;
  const { tls, backendTLS } = gateway.spec ?? {};
  const [value, steps] =
    tls?.backend?.clientCertificateRef === undefined
      ? ([backendTLS?.clientCertificateRef, ["backendTLS"]] as const)
      : ([tls.backend.clientCertificateRef, ["tls", "backend"]] as const);
  const origin = childOf(gateway.origin, "spec", ...steps, "clientCertificateRef");
  return value && { to: value, origin };
}
