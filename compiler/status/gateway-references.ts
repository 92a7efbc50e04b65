import { isInsecure, validationOf } from "../2-lower/kubernetes/gateway/client-certificates.ts";
import type { KubernetesListener } from "../2-lower/kubernetes/gateway/listeners.ts";
import { formatPath } from "../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf } from "../manifests/manifests.ts";
import {
  type Condition,
  conditionFrom,
  type Problem,
  trueCondition,
  within,
} from "./conditions.ts";

const INSECURE_MODE = "InsecureFrontendValidationMode";

/** Types of the conditions of a Gateway's references. They are removed when they no longer apply, also if the Gateway changes its class. */
export const REFERENCE_CONDITIONS: readonly string[] = ["ResolvedRefs", INSECURE_MODE];

/** Problems with the CAs for client certificates of a listener. */
export interface AuthorityProblems {
  readonly problems: readonly Problem[];
  /** Whether no CA is usable, so that the listener cannot be served. */
  readonly isEveryOne: boolean;
}

/** Finds problems with the CAs for client certificates of a listener; `undefined` if there are no problems. */
export function authorityProblems(
  listener: KubernetesListener,
  problemsOf: (manifest: Manifest) => readonly Problem[],
): AuthorityProblems | undefined {
  const validation = validationOf(listener);
  if (validation === undefined) return undefined;
  const { value, from, origin } = validation;
  const place = [...origin.path.slice(origin.resource?.depth ?? 0), "caCertificateRefs"];
  const found = within(problemsOf(from), ...place).filter(({ isError }) => isError);
  if (found.length === 0) return undefined;
  const broken = new Set(found.map(({ path }) => path[place.length]));
  // Paths are relative to the resource of the status: a problem of the Gateway has none in a ListenerSet.
  const elsewhere = ({ path, message }: Problem) =>
    `${from.origin.resource?.name} ${formatPath(path)}: ${message}`;
  return {
    problems:
      from === listener.owner
        ? found
        : found.map((each) => ({ ...each, message: elsewhere(each), path: [] })),
    isEveryOne: broken.size === value.caCertificateRefs.length,
  };
}

/** Returns the reason of `ResolvedRefs` for problems with the CAs for client certificates (Gateway API). */
export function authorityReason(problems: readonly Problem[]): string {
  const has = (wanted: string) => problems.some(({ code }) => code === wanted);
  if (has("reference-not-permitted")) return "RefNotPermitted";
  return has("wrong-reference-kind") ? "InvalidCACertificateKind" : "InvalidCACertificateRef";
}

/** Whether a problem concerns a reference in a Gateway's `tls`, which does not prevent other parts from being served. */
export function isTlsReference({ path }: Problem): boolean {
  const [spec, field] = path;
  const isTls = field === "tls" || field === "backendTLS";
  return (
    spec === "spec" &&
    isTls &&
    (path.includes("clientCertificateRef") || path.includes("caCertificateRefs"))
  );
}

/**
 * Returns the conditions of a Gateway's references: `ResolvedRefs`, which covers its listeners and the client certificate
 * for backends, and `InsecureFrontendValidationMode`.
 */
export function referenceConditions(
  gateway: ManifestOf<"Gateway">,
  problems: readonly Problem[],
  ofListeners: readonly Problem[],
): readonly Condition[] {
  const ofBackends = problems.filter(
    ({ isError, path }) => isError && path.includes("clientCertificateRef"),
  );
  const isDenied = ofBackends.some(({ code }) => code === "reference-not-permitted");
  const own = isDenied ? "RefNotPermitted" : "InvalidClientCertificateRef";
  return [
    conditionFrom(
      "ResolvedRefs",
      "ResolvedRefs",
      [own, ofBackends],
      ["ListenersNotResolved", ofListeners],
    ),
    ...(isInsecure(gateway) ? [INSECURE] : []),
  ];
}

const INSECURE = trueCondition(
  INSECURE_MODE,
  "ConfigurationChanged",
  "clients without a valid certificate are accepted (mode: AllowInsecureFallback)",
);
