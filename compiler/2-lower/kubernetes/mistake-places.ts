import type { ConfigPath, Diagnostic } from "../../diagnostics/diagnostic.ts";

/** Whether a mistake is unused TLS of a Gateway, which is reported in its status and affects nothing else. */
export function isIdleTls({ code, at }: Diagnostic): boolean {
  const [spec, field] = at.path.slice(at.resource?.depth ?? 0);
  const isOfGateway = at.resource?.name.startsWith("Gateway ") === true;
  return code === "misplaced-field" && isOfGateway && spec === "spec" && field === "tls";
}

/**
 * Whether a mistake of a Gateway affects none of its other parts: one of a listener, of a reference in `tls` (CA
 * certificates for clients, or the certificate for backends), or of an address.
 */
export function isElsewhereInGateway(path: ConfigPath): boolean {
  const [spec, field, , part] = path;
  if (spec !== "spec") return false;
  if (field === "listeners") return true;
  if (field === "addresses") return part === "value";
  return isBelow(path, ["spec", "tls", "frontend"])
    ? path.includes("caCertificateRefs")
    : isClientCertificate(path);
}

/** Whether a mistake of a Gateway is about its client certificate for backends. */
export function isClientCertificate(path: ConfigPath): boolean {
  const [spec, field] = path;
  return (
    spec === "spec" &&
    (field === "tls" || field === "backendTLS") &&
    path.includes("clientCertificateRef")
  );
}

/** Whether a mistake of a rule is about the target of one of its `backendRefs`. */
export function isBackendReference(path: ConfigPath, rule: ConfigPath): boolean {
  const [field, index, ...target] = path.slice(rule.length);
  return field === "backendRefs" && index !== undefined && isTarget(target);
}

/**
 * Whether a mistake of a rule is about the target of a mirror. Gateway API then sends no copies, but serves the
 * rule.
 */
export function isMirrorReference(path: ConfigPath, rule: ConfigPath): boolean {
  const [filters, , mirror, field, ...target] = path.slice(rule.length);
  return (
    filters === "filters" &&
    mirror === "requestMirror" &&
    field === "backendRef" &&
    isTarget(target)
  );
}

/** Whether the rest of a path is a reference as a whole, or what it names. */
function isTarget([part, ...rest]: ConfigPath): boolean {
  return rest.length === 0 && TARGET_PARTS.some((name) => name === part);
}

const TARGET_PARTS = [undefined, "name", "namespace", "group", "kind", "port"];

/** Whether a mistake of a route only prevents it from attaching somewhere, and does not affect its rules. */
export function isElsewhereInRoute([, field]: ConfigPath): boolean {
  return ELSEWHERE.has(String(field));
}

const ELSEWHERE: ReadonlySet<string> = new Set(["parentRefs", "hostnames", "rules", "undefined"]);

/** Whether a mistake of a GatewayModel affects the model, and not only one of its parents. */
export function isOfModel([, field]: ConfigPath): boolean {
  return field !== "parentRefs";
}

/** Whether a mistake of a GatewayPolicy only affects access logs, traces or labels of metrics. */
export function isTelemetry([spec, section, field]: ConfigPath): boolean {
  return spec === "spec" && section === "frontend" && TELEMETRY.has(String(field));
}

const TELEMETRY: ReadonlySet<string> = new Set(["accessLog", "metrics", "tracing"]);

/** Whether a path is a place, or below it. */
export function isBelow(path: ConfigPath, place: ConfigPath): boolean {
  return place.every((step, index) => path[index] === step);
}
