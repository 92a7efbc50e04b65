import { listenerTraffic, reportIdle } from "../../../config/sections.ts";
import { childOf, keyPlace, type Origin, placeKey } from "../../../diagnostics/diagnostic.ts";
import type { ClientCertificatesNode } from "../../../ir/tls.ts";
import type { frontendValidation } from "../../../manifests/gateway.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import type { Infer } from "../../../schema/schema.ts";
import { usableAuthorities } from "../inventory/secrets.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { KubernetesListener } from "./listeners.ts";

/** Returns the client certificates that a listener requires; `undefined` if none. */
export type ClientsOf = (listener: KubernetesListener) => ClientCertificatesNode | undefined;

/** A validation of client certificates, as declared. */
export interface ClientValidation {
  readonly value: Infer<typeof frontendValidation>;
  /** The resource that declares it. */
  readonly from: Manifest;
  /** Location of the declaration. */
  readonly origin: Origin;
  /** Port that it applies to; `undefined` for every port without its own. */
  readonly port: number | undefined;
}

/**
 * Reads the client certificates that a Gateway's listeners require (GEP-91). Unreadable CA certificates are
 * reported and omitted, so their clients are refused. Reports validations that apply to no listener.
 */
export function clientsOfListeners(
  gateway: ManifestOf<"Gateway">,
  listeners: readonly KubernetesListener[],
  context: PolicyContext,
): ClientsOf {
  const nodes = new Map<string, ClientCertificatesNode>();
  const read = (validation: ClientValidation, about: readonly KubernetesListener[]) => {
    const { value, from, origin } = validation;
    const carried = about.flatMap(({ resource }) => listenerTraffic(resource));
    if (!carried.includes("tls"))
      reportIdle(
        { section: { name: "validation", actsOn: ["tls"], origin }, carried },
        context.diagnostics,
      );
    const use = { from, gateway, origin };
    nodes.set(placeKey(origin), {
      authorities: usableAuthorities(value.caCertificateRefs, use, context),
      mode: value.mode === "AllowInsecureFallback" ? "optional" : "required",
    });
  };
  const declared = gatewayValidations(gateway);
  const isOverridden = (port: number) => overridesOf(gateway).some((each) => each.port === port);
  for (const validation of declared) {
    const { port } = validation;
    read(
      validation,
      listeners.filter(({ resource }) =>
        port === undefined ? !isOverridden(resource.port) : resource.port === port,
      ),
    );
  }
  for (const listener of listeners) {
    const own = listener.resource.tls && ownValidation(listener);
    if (own !== undefined) read(own, [listener]);
  }
  return (listener) => {
    const validation = validationOf(listener);
    const { certificate } = listener.resource.tls ?? {};
    if (certificate !== undefined && "kind" in certificate) {
      if (validation !== undefined)
        context.diagnostics.report("broken-rule", keyPlace(certificate.origin), TWO_SOURCES);
      return { authorities: "workloadApi", mode: "required" };
    }
    return validation && nodes.get(placeKey(validation.origin));
  };
}

/** Message about clients of a listener with the gateway's own identity, who are workloads of its trust domain. */
const TWO_SOURCES = {
  message:
    'the listener accepts workloads of the trust domain: "validation" of client certificates excludes SPIFFE',
};

/**
 * Returns the validation of client certificates for a listener: its own, at the field's former place in Gateway
 * API, or else the Gateway's for its port, or else the Gateway's default. `undefined` if none is declared, or if the
 * listener does not terminate TLS.
 */
export function validationOf(listener: KubernetesListener): ClientValidation | undefined {
  const { resource, gateway } = listener;
  if (resource.tls === undefined) return undefined;
  const own = ownValidation(listener);
  if (own !== undefined) return own;
  const declared = gatewayValidations(gateway);
  const isOverridden = overridesOf(gateway).some(({ port }) => port === resource.port);
  return declared.find(({ port }) => port === (isOverridden ? resource.port : undefined));
}

function ownValidation({
  spec,
  owner,
  resource,
}: KubernetesListener): ClientValidation | undefined {
  const value = spec.tls?.frontendValidation;
  const origin = childOf(resource.origin, "tls", "frontendValidation");
  return value && { value, from: owner, origin, port: resource.port };
}

/**
 * Returns the validations that a Gateway declares for its listeners. An entry for a port can also disable
 * validation.
 */
function gatewayValidations(gateway: ManifestOf<"Gateway">): readonly ClientValidation[] {
  const place = childOf(gateway.origin, "spec", "tls", "frontend");
  const byDefault = gateway.spec?.tls?.frontend?.default.validation;
  const origin = childOf(place, "default", "validation");
  return [
    ...overridesOf(gateway).flatMap(({ port, tls: { validation: value } }, index) => {
      const at = childOf(place, "perPort", index, "tls", "validation");
      return value === undefined ? [] : [{ value, from: gateway, origin: at, port }];
    }),
    ...(byDefault === undefined
      ? []
      : [{ value: byDefault, from: gateway, origin, port: undefined }]),
  ];
}

function overridesOf({ spec }: ManifestOf<"Gateway">) {
  return spec?.tls?.frontend?.perPort ?? [];
}

/** Whether a Gateway accepts clients with a missing or invalid certificate. */
export function isInsecure(gateway: ManifestOf<"Gateway">): boolean {
  const own = (gateway.spec?.listeners ?? []).map((each) => each?.tls?.frontendValidation);
  const all = [...gatewayValidations(gateway).map(({ value }) => value), ...own];
  return all.some((value) => value?.mode === "AllowInsecureFallback");
}
