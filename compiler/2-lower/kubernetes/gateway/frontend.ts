import { frontendFields } from "../../../1-parse/kubernetes/schemas/frontend.ts";
import {
  lowerServerReference,
  type ServerReferenceContext,
} from "../../../backends/parts/callout-server.ts";
import type { AccessLogConfig } from "../../../config/access-log.ts";
import {
  alpnSections,
  defaultFrontend,
  dividedAlpn,
  FRONTEND_TRAFFIC,
  type FrontendConfig,
  type FrontendTlsConfig,
} from "../../../config/frontend.ts";
import { readProxyProtocol } from "../../../config/proxy-protocol.ts";
import type { ListenerResource } from "../../../config/resources.ts";
import { acts, listenerTraffic, reportIdle } from "../../../config/sections.ts";
import type { TracingConfig } from "../../../config/tracing.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import { readKubernetesConnectionRules } from "../../../policies/connection-rules.ts";
import { parseTimer } from "../../../schema/duration.ts";
import { type Infer, type Schema, validated } from "../../../schema/schema.ts";
import { readKubernetesAccessLog } from "../../standalone/access-log.ts";
import { readHttp, readTcp, readTlsVersion } from "../../standalone/frontend.ts";
import { readKubernetesTracing, readTracings } from "../../standalone/tracing.ts";
import { serverOf } from "../backends/servers.ts";
import { isJoined } from "../policies/fields.ts";
import { type EffectiveField, merge } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { recordEffect } from "../policies/policy-effects.ts";
import { portKey, targetKey } from "../policies/policy-targets.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";

type TlsValue = Infer<typeof frontendFields.tls>;

/** Returns the frontend of a Gateway: the fields of policies that target it override its raw configuration. */
export function gatewayFrontend(
  gateway: ManifestOf<"Gateway">,
  raw: FrontendConfig,
  listeners: readonly ListenerResource[],
  context: PolicyContext,
): FrontendConfig {
  return frontendOf(gateway, gatewayFields(gateway, context), raw, listeners, context);
}

/** Returns the frontends of ports that policies target, which override those of the Gateway. */
export function portFrontends(
  gateway: ManifestOf<"Gateway">,
  raw: FrontendConfig,
  listeners: readonly ListenerResource[],
  context: PolicyContext,
): ReadonlyMap<number, FrontendConfig> {
  const byPort = Map.groupBy(listeners, ({ port }) => port);
  return new Map(
    [...byPort].flatMap(([port, own]) => {
      if (context.policyIndex.get(portKey(gateway, port)) === undefined) return [];
      const fields = gatewayFields(gateway, context, port);
      return [[port, frontendOf(gateway, fields, raw, own, context)] as const];
    }),
  );
}

function frontendOf(
  gateway: ManifestOf<"Gateway">,
  fields: ReadonlyMap<string, EffectiveField>,
  raw: FrontendConfig,
  listeners: readonly ListenerResource[],
  context: PolicyContext,
): FrontendConfig {
  meetFrontend(fields, listeners, context);
  const http = valueOfField(frontendFields.http, fields.get("frontend.http"));
  const tcp = valueOfField(frontendFields.tcp, fields.get("frontend.tcp"));
  const tls = valueOfField(frontendFields.tls, fields.get("frontend.tls"));
  const rest = defaultFrontend(gateway.origin);
  // A field of a policy replaces that of the raw configuration as a whole.
  const ofHttp = http === undefined ? raw : readHttp(http, rest);
  const ofTcp = tcp === undefined ? raw : readTcp(tcp, rest);
  const { keepAlive, maxConnections } = ofTcp.connections;
  const origin = fields.get("frontend.tls")?.values[0]?.origin;
  const ofProxies = fields.get("frontend.proxyProtocol");
  const proxies = valueOfField(frontendFields.proxyProtocol, ofProxies);
  const ofProxiesAt = ofProxies?.values[0]?.origin ?? gateway.origin;
  const rules = fields
    .get("frontend.networkAuthorization")
    ?.values.map(({ value, origin: at }) => ({
      value: validated(frontendFields.networkAuthorization, value),
      origin: at,
    }));
  const isOwnTls = tls !== undefined && origin !== undefined;
  return {
    maxBufferSize: ofHttp.maxBufferSize,
    connections: { ...ofHttp.connections, keepAlive, maxConnections },
    proxyProtocol: proxies ? readProxyProtocol(proxies, ofProxiesAt) : raw.proxyProtocol,
    connectionRules: rules ? readKubernetesConnectionRules(rules) : raw.connectionRules,
    connectionCheck: raw.connectionCheck,
    metricLabels: metricLabels(fields.get("frontend.metrics")) ?? raw.metricLabels,
    tls: isOwnTls ? readTls(tls, origin, rest.tls, listeners, context) : raw.tls,
  };
}

/** Returns the labels of a policy; `undefined` if no policy sets any. */
function metricLabels(
  field: EffectiveField | undefined,
): FrontendConfig["metricLabels"] | undefined {
  const value = valueOfField(frontendFields.metrics, field);
  const origin = field?.values[0]?.origin;
  if (value === undefined || origin === undefined) return undefined;
  return value.attributes.add.map(({ name, expression: text }, index) => ({
    name,
    text,
    origin: childOf(origin, "attributes", "add", index, "expression"),
  }));
}

function readTls(
  {
    handshakeTimeout,
    alpnProtocols,
    minProtocolVersion,
    maxProtocolVersion,
    cipherSuites,
    keyExchangeGroups,
  }: TlsValue,
  origin: Origin,
  rest: FrontendTlsConfig,
  listeners: readonly ListenerResource[],
  { diagnostics }: PolicyContext,
): FrontendTlsConfig {
  const carried = listeners.flatMap(listenerTraffic);
  const at = childOf(origin, "alpnProtocols");
  const idle = alpnSections(alpnProtocols ?? [], "alpnProtocols", at).find(
    ({ actsOn }) => actsOn.includes("endedTls") && !acts(actsOn, carried),
  );
  if (idle !== undefined) reportIdle({ section: idle, carried }, diagnostics);
  const version = minProtocolVersion === undefined ? "maxProtocolVersion" : "minProtocolVersion";
  return {
    handshakeTimeout:
      (handshakeTimeout === undefined ? undefined : parseTimer(handshakeTimeout)) ??
      rest.handshakeTimeout,
    ...dividedAlpn(alpnProtocols, rest),
    minVersion: readTlsVersion(minProtocolVersion) ?? rest.minVersion,
    maxVersion: readTlsVersion(maxProtocolVersion) ?? rest.maxVersion,
    versionOrigin: childOf(origin, version),
    cipherSuites: cipherSuites ?? rest.cipherSuites,
    suitesOrigin: childOf(origin, "cipherSuites"),
    keyExchangeGroups: keyExchangeGroups ?? rest.keyExchangeGroups,
  };
}

/** Records which fields of the frontend, and of its TLS, have an effect on the listeners. */
function meetFrontend(
  fields: ReadonlyMap<string, EffectiveField>,
  listeners: readonly ListenerResource[],
  { sections }: PolicyContext,
): void {
  const carried = listeners.flatMap(listenerTraffic);
  for (const { field, values } of fields.values()) {
    const name = field.slice("frontend.".length);
    for (const { value, origin } of values) {
      const parts = Object.keys(value ?? {}).map((key) => `${name}.${TLS_FIELDS[key] ?? key}`);
      const known = [name, ...parts].flatMap((each) => FRONTEND_TRAFFIC[each] ?? []);
      sections.meet({ name, actsOn: known, origin }, carried);
    }
  }
}

/** TLS fields with different names in manifests and in a file. */
const TLS_FIELDS: Readonly<Record<string, string>> = {
  alpnProtocols: "alpn",
  minProtocolVersion: "minVersion",
  maxProtocolVersion: "maxVersion",
};

/** Returns the access logs that a Gateway's policies configure. */
export function gatewayAccessLogs(
  gateway: ManifestOf<"Gateway">,
  context: PolicyContext,
): readonly AccessLogConfig[] {
  const values = gatewayFields(gateway, context).get("frontend.accessLog")?.values ?? [];
  return values.map(({ value, source: from, origin }) => {
    const log = validated(frontendFields.accessLog, value);
    const at = childOf(origin, "otlp");
    const server =
      log.otlp &&
      lowerServerReference(log.otlp, { origin: at, server: callsFrom(from, gateway, context) });
    return readKubernetesAccessLog(log, server, origin);
  });
}

/**
 * Returns the tracing that a Gateway's policies configure, or else its raw configuration (its own before its
 * class's).
 */
export function gatewayTracing(
  gateway: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  context: PolicyContext,
): TracingConfig | undefined {
  const [field] = gatewayFields(gateway, context).get("frontend.tracing")?.values ?? [];
  if (field === undefined) {
    return lastOf(parameters, ({ rawConfig, origin }) =>
      readTracings(rawConfig ?? {}, childOf(origin, "spec", "rawConfig"), context.diagnostics),
    );
  }
  const { source: from, origin } = field;
  const value = validated(frontendFields.tracing, field.value);
  const server = lowerServerReference(value, { origin, server: callsFrom(from, gateway, context) });
  return server && readKubernetesTracing(value, server, origin);
}

/** Returns a function that finds the servers that a Gateway's policy calls. */
function callsFrom(
  from: Manifest,
  gateway: Manifest,
  context: PolicyContext,
): ServerReferenceContext["server"] {
  return (reference, origin) => serverOf({ reference, from, gateway, origin }, context);
}

/** Returns the effective frontend fields of a Gateway, or of one of its ports. */
export function gatewayFields(
  gateway: ManifestOf<"Gateway">,
  context: PolicyContext,
  port?: number,
): ReadonlyMap<string, EffectiveField> {
  const keys = [targetKey(gateway), ...(port === undefined ? [] : [portKey(gateway, port)])];
  const values = keys
    .flatMap((key) => context.policyIndex.get(key) ?? [])
    .filter(({ field }) => field.startsWith("frontend."));
  const fields = new Map(merge(values, isJoined).map((field) => [field.field, field]));
  for (const field of fields.values()) recordEffect(field, gateway, context);
  return fields;
}

function valueOfField<Value>(
  schema: Schema<Value>,
  field: EffectiveField | undefined,
): Value | undefined {
  const [first] = field?.values ?? [];
  return first && validated(schema, first.value);
}
