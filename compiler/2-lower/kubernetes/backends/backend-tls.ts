import { backendTls } from "../../../backends/parts/manifest-connection.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { backendValidation } from "../../../manifests/gateway.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { BackendTlsConfig } from "../../../model/server-policies.ts";
import type { MountedFile } from "../../../model/texts.ts";
import { opensslGroup } from "../../../schema/key-exchange.ts";
import { type Infer, validated } from "../../../schema/schema.ts";
import {
  mountedAuthorities,
  mountedConfigMap,
  secretFiles,
  secretHasKey,
} from "../inventory/secrets.ts";
import type { FieldValue } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";

/** Reads TLS to a backend: `tls` of a GatewayPolicy or GatewayBackend, or `validation` of a BackendTLSPolicy. */
export function readBackendTls(
  value: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): BackendTlsConfig {
  return value.source.kind === "BackendTLSPolicy"
    ? readValidation(value, gateway, context)
    : readTls(value, gateway, context);
}

type TlsValue = Infer<typeof backendTls>;

function readTls(
  { value, origin, source }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): BackendTlsConfig {
  const given = validated(backendTls, value);
  const { insecureSkipVerify } = given;
  const own = ownCertificate(given, source, gateway, origin, context);
  const place = childOf(origin, "caCertificateRefs");
  const authorities = given.caCertificateRefs?.map(({ name }, index) =>
    mountedConfigMap({ name, from: source, gateway, origin: childOf(place, index) }, context),
  );
  return {
    cert: own.cert,
    key: own.key,
    roots: authorities ?? (own.root && [own.root]),
    hostname: given.sni,
    verification:
      insecureSkipVerify === "All" ? "none" : insecureSkipVerify === "Hostname" ? "chain" : "full",
    alpn: given.alpnProtocols,
    subjectAltNames: given.verifySubjectAltNames,
    keyExchangeGroups: given.keyExchangeGroups?.map(opensslGroup),
    ...(given.certificateSource === "SPIFFE" && {
      identity: { kind: "workloadApi", origin: childOf(origin, "certificateSource") },
    }),
    origin,
    alpnOrigin: childOf(origin, "alpnProtocols"),
  };
}

/** Returns the gateway's client certificate, and the CA certificate in the same Secret. */
function ownCertificate(
  { mtlsCertificateRef }: TlsValue,
  from: Manifest,
  gateway: Manifest,
  origin: Origin,
  context: PolicyContext,
): Readonly<Partial<Record<"cert" | "key" | "root", MountedFile>>> {
  const [reference] = mtlsCertificateRef ?? [];
  if (reference === undefined) return {};
  const { name } = reference;
  const hasAuthorities = secretHasKey(name, "ca.cert", from, context);
  const keys = ["tls.crt", "tls.key", ...(hasAuthorities ? (["ca.cert"] as const) : [])] as const;
  const at = childOf(origin, "mtlsCertificateRef", 0);
  const use = { name, keys, content: "certificate", from, gateway, origin: at } as const;
  const files = secretFiles(use, context);
  const [cert, key, root] = files.map((file): MountedFile => ({ kind: "secret", file }));
  return { ...(cert && { cert }), ...(key && { key }), ...(root && { root }) };
}

function readValidation(
  { value, origin, source }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): BackendTlsConfig {
  const { caCertificateRefs, hostname, subjectAltNames } = validated(backendValidation, value);
  return {
    cert: undefined,
    key: undefined,
    roots: mountedAuthorities(caCertificateRefs, { from: source, gateway, origin }, context),
    hostname,
    verification: "full",
    alpn: undefined,
    subjectAltNames: subjectAltNames?.map(({ hostname: name, uri }) => name ?? uri ?? ""),
    origin,
    alpnOrigin: origin,
  };
}
