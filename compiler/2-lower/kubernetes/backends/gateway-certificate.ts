import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ObjectReference } from "../../../manifests/manifests.ts";
import type { BackendTlsConfig } from "../../../model/server-policies.ts";
import { type Section, trafficText } from "../../../model/traffic.ts";
import { resourceName } from "../inventory/inventory.ts";
import { secretFiles } from "../inventory/secrets.ts";
import type { PolicyContext } from "../policies/policy-context.ts";

/** What a Gateway shows to every backend that is reached over TLS (GEP-3155), unless a policy shows something else. */
export function gatewayCertificate(
  gateway: Manifest,
  context: PolicyContext,
): Partial<Pick<BackendTlsConfig, "cert" | "key">> {
  const reference = referenceOf(gateway);
  if (reference === undefined) return {};
  const { to, origin } = reference;
  context.sections.meet(sectionOf(origin), ["upstreamTls"]);
  const keys = ["tls.crt", "tls.key"];
  const use = { ...to, keys, content: "certificate", from: gateway, gateway, origin } as const;
  const [cert = "", key = ""] = secretFiles(use, context);
  return { cert: { kind: "secret", file: cert }, key: { kind: "secret", file: key } };
}

/** Reports a Gateway's certificate that no backend of its routes, which were read before, is shown. */
export function reportUnshown(gateway: Manifest, context: PolicyContext): void {
  const reference = referenceOf(gateway);
  if (reference === undefined || gateway.isPartial === true) return;
  const { origin } = reference;
  if (context.sections.useOf(origin) === "acting") return;
  // A Gateway is there before its routes are: they may come to have such a backend.
  context.diagnostics.report("policy-without-effect", keyPlace(origin), {
    policy: resourceName(gateway),
    field: "clientCertificateRef",
    actsOn: trafficText(["upstreamTls"]),
  });
}

function sectionOf(origin: Origin): Section {
  return { name: "clientCertificateRef", actsOn: ["upstreamTls"], origin };
}

/** The reference to the Secret, where Gateway API has it or where it once stood. */
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
