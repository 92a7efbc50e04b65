import type { ListenerResource } from "../../../config/resources.ts";
import { listenerTraffic, reportIdle } from "../../../config/sections.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { ClientCertificatesNode } from "../../../ir/tls.ts";
import type { frontendValidation } from "../../../manifests/gateway.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import type { Infer } from "../../../schema/schema.ts";
import { mountedAuthorities } from "../inventory/secrets.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { KubernetesListener } from "./listeners.ts";

/** What the clients of one listener have to show; undefined: nothing. */
export type ClientsOf = (listener: KubernetesListener) => ClientCertificatesNode | undefined;

/**
 * What the clients of a Gateway's listeners have to show (GEP-91): what its `tls.frontend` says of their port, else its
 * default; a listener's own `frontendValidation`, where that once stood, counts before both. What acts on no listener is
 * reported.
 */
export function clientsOfListeners(
  gateway: ManifestOf<"Gateway">,
  listeners: readonly KubernetesListener[],
  context: PolicyContext,
): ClientsOf {
  const { frontend } = gateway.spec?.tls ?? {};
  const place = childOf(gateway.origin, "spec", "tls", "frontend");
  const use: Validations = { gateway, context, all: listeners.map(({ resource }) => resource) };
  const byPort = new Map(
    (frontend?.perPort ?? []).map(({ port, tls }, index) => {
      const origin = childOf(place, "perPort", index, "tls", "validation");
      const here = use.all.filter((listener) => listener.port === port);
      return [port, read(tls.validation, gateway, here, origin, use)];
    }),
  );
  const others = use.all.filter(({ port }) => !byPort.has(port));
  const at = childOf(place, "default", "validation");
  const byDefault = read(frontend?.default.validation, gateway, others, at, use);
  return ({ resource, spec: { tls }, owner }) => {
    if (resource.tls === undefined) return undefined;
    const origin = childOf(resource.origin, "tls", "frontendValidation");
    const own = read(tls?.frontendValidation, owner, [resource], origin, use);
    return own ?? (byPort.has(resource.port) ? byPort.get(resource.port) : byDefault);
  };
}

/** What reading a Gateway's validations needs. */
interface Validations {
  readonly gateway: Manifest;
  readonly context: PolicyContext;
  readonly all: readonly ListenerResource[];
}

/** `from`: the resource that says it; `here`: the listeners that it is said of. */
function read(
  value: Infer<typeof frontendValidation> | undefined,
  from: Manifest,
  here: readonly ListenerResource[],
  origin: Origin,
  { gateway, context }: Validations,
): ClientCertificatesNode | undefined {
  if (value === undefined) return undefined;
  const { caCertificateRefs, mode } = value;
  const carried = here.flatMap(listenerTraffic);
  if (!carried.includes("tls"))
    reportIdle(
      { section: { name: "validation", actsOn: ["tls"], origin }, carried },
      context.diagnostics,
    );
  return {
    authorities: mountedAuthorities(caCertificateRefs, { from, gateway, origin }, context) ?? [],
    mode: mode === "AllowInsecureFallback" ? "optional" : "required",
  };
}
