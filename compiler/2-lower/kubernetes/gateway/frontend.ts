import type { AlpnProtocol } from "../../../../runtime/tls/tls-settings.ts";
import type { FrontendValue } from "../../../1-parse/standalone/frontend.ts";
import type { ConfigValue } from "../../../1-parse/values.ts";
import type { AccessLogConfig } from "../../../config/access-log.ts";
import type { CipherSuite, FrontendConfig } from "../../../config/frontend.ts";
import type { ManifestOf } from "../../../config/manifests.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import { type KubernetesAccessLog, readKubernetesAccessLog } from "../../standalone/access-log.ts";
import { readFrontend } from "../../standalone/frontend.ts";
import { isJoined } from "../policies/fields.ts";
import { type EffectiveField, merge } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policies.ts";
import { recordEffect } from "../policies/policy-effects.ts";
import { targetKey } from "../policies/policy-targets.ts";

/** The protocols that a listener can speak. */
const ALPN: readonly string[] = ["h2", "http/1.1"] satisfies readonly AlpnProtocol[];

/** How a Gateway meets its clients: the fields of the policies that target it, over those of its raw configuration. */
export function gatewayFrontend(
  gateway: ManifestOf<"Gateway">,
  raw: FrontendValue,
  context: PolicyContext,
): FrontendConfig {
  const fields = frontendFields(gateway, context);
  const { http, tcp } = {
    http: valueOfField(fields.get("frontend.http")),
    tcp: valueOfField(fields.get("frontend.tcp")),
  };
  const tls = fields.get("frontend.tls");
  const given = readTls(valueOfField(tls));
  // The schemas of both forms let the same values through.
  const own = { ...(http && { http }), ...(tcp && { tcp }), ...(given && { tls: given }) };
  const config = readFrontend({ ...raw, ...(own as FrontendValue) }, gateway.origin);
  const origin = tls?.values[0]?.origin;
  if (origin === undefined || given === undefined) return config;
  const other = given.alpn?.findIndex((protocol) => !ALPN.includes(protocol)) ?? -1;
  if (other >= 0) {
    const field = `"${given.alpn?.[other]}"`;
    const at = childOf(origin, "alpnProtocols", other);
    context.diagnostics.report("not-built-yet", at, { what: "other protocols by ALPN", field });
  }
  const version = given.minVersion === undefined ? "maxProtocolVersion" : "minProtocolVersion";
  return {
    ...config,
    tls: {
      ...config.tls,
      versionOrigin: childOf(origin, version),
      suitesOrigin: childOf(origin, "cipherSuites"),
    },
  };
}

/** What the policies of a Gateway say of the access log. */
export function gatewayAccessLogs(
  gateway: ManifestOf<"Gateway">,
  context: PolicyContext,
): readonly AccessLogConfig[] {
  const values = frontendFields(gateway, context).get("frontend.accessLog")?.values ?? [];
  // The schema has checked the shape.
  return values.map(({ value, origin }) =>
    readKubernetesAccessLog(value as KubernetesAccessLog, origin),
  );
}

/** The frontend fields that hold for a Gateway. */
function frontendFields(
  gateway: ManifestOf<"Gateway">,
  context: PolicyContext,
): ReadonlyMap<string, EffectiveField> {
  const values = (context.policyIndex.get(targetKey(gateway)) ?? []).filter(({ field }) =>
    field.startsWith("frontend."),
  );
  const fields = new Map(merge(values, isJoined).map((field) => [field.field, field]));
  for (const field of fields.values()) recordEffect(field, gateway, context);
  return fields;
}

/** The cluster's names of the TLS fields, in the words of the file. */
function readTls(value: ConfigValue | undefined):
  | {
      readonly handshakeTimeout?: string;
      readonly alpn?: readonly string[];
      readonly minVersion?: string;
      readonly maxVersion?: string;
      readonly cipherSuites?: readonly CipherSuite[];
    }
  | undefined {
  if (value === undefined) return undefined;
  const { handshakeTimeout, alpnProtocols, minProtocolVersion, maxProtocolVersion, cipherSuites } =
    value as {
      readonly handshakeTimeout?: string;
      readonly alpnProtocols?: readonly string[];
      readonly minProtocolVersion?: string;
      readonly maxProtocolVersion?: string;
      readonly cipherSuites?: readonly CipherSuite[];
    };
  return {
    ...(handshakeTimeout === undefined ? {} : { handshakeTimeout }),
    ...(alpnProtocols === undefined ? {} : { alpn: alpnProtocols }),
    ...(minProtocolVersion === undefined ? {} : { minVersion: minProtocolVersion }),
    ...(maxProtocolVersion === undefined ? {} : { maxVersion: maxProtocolVersion }),
    ...(cipherSuites === undefined ? {} : { cipherSuites }),
  };
}

function valueOfField(field: EffectiveField | undefined): ConfigValue | undefined {
  return field?.values[0]?.value;
}
