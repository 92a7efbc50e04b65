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

/** Conditions of a Gateway's references, which are withdrawn where they are not wanted: from a Gateway of another class too. */
export const REFERENCE_CONDITIONS: readonly string[] = ["ResolvedRefs", INSECURE_MODE];

/** What is wrong with the authorities of the client certificates of a listener. */
export interface AuthorityProblems {
  readonly problems: readonly Problem[];
  /** No authority is left: the listener can't be served. */
  readonly isEveryOne: boolean;
}

/** Finds what is wrong with the authorities of the client certificates of a listener; undefined: nothing. */
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
  // A ListenerSet does not show the path in its Gateway.
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

/** The reason for `ResolvedRefs` of a listener whose authorities of client certificates have problems (Gateway API). */
export function authorityReason(problems: readonly Problem[]): string {
  const has = (wanted: string) => problems.some(({ code }) => code === wanted);
  if (has("reference-not-permitted")) return "RefNotPermitted";
  return has("wrong-reference-kind") ? "InvalidCACertificateKind" : "InvalidCACertificateRef";
}

/** Whether a problem of a Gateway is about a reference of its `tls`, which keeps no other part of it from being served. */
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
 * Conditions of a Gateway's references: `ResolvedRefs`, which sums up its listeners' and says whether the certificate for
 * backends can be read, and `InsecureFrontendValidationMode`.
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
  "clients without a valid certificate are let through (mode: AllowInsecureFallback)",
);
