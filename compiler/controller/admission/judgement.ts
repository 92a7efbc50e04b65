import { unknownManifest } from "../../1-parse/kubernetes/manifests.ts";
import { checkFiles } from "../../compile.ts";
import { type Diagnostic, formatPath } from "../../diagnostics/diagnostic.ts";
import { type MessageCode, messageOf } from "../../diagnostics/messages/index.ts";
import { memoryHost } from "../../host.ts";
import type { Manifest } from "../../manifests/manifests.ts";
import { type ApiObject, objectKey } from "../kubernetes/api-object.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import { manifestText } from "../model/watched-object.ts";

/** An object that is judged by itself. */
export interface JudgedObject {
  readonly object: ApiObject;
  /** The kind's name in gwc, for any alias of it. */
  readonly kind: Manifest["kind"];
}

/** Result of judging an object by itself: plain data. */
export interface Judgement {
  /** Mistakes that it has whatever else there is. */
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
  /** Its references. */
  readonly references: readonly NamedObject[];
}

/** An object by its kind and `NAMESPACE/NAME`. */
export interface NamedObject {
  readonly kind: string;
  readonly key: string;
}

/**
 * Judges an object as if everything that it refers to were there and good: what other objects say, or when they come, does
 * not change what is said of it.
 */
export function judgementOf({ object, kind }: JudgedObject): Judgement {
  const assumed = new Map<string, Manifest>();
  const { whole, others } = served(object, kind);
  const texts = [whole, ...others].map((each, index) => [`/${index}.json`, manifestText(each)]);
  const files: Readonly<Record<string, string>> = Object.fromEntries(texts);
  const host = { ...memoryHost(files), filesIn: () => undefined };
  const { diagnostics } = checkFiles(Object.keys(files), host, {
    ...{ name: "gateway", isStrict: false, isDelivered: true },
    assumed: (kind, namespace, name) => {
      const id = `${kind} ${namespace}/${name}`;
      const manifest = assumed.get(id) ?? unknownManifest(kind, namespace, name);
      assumed.set(id, manifest);
      return manifest;
    },
  });
  const title = `${kind} ${objectKey(object.metadata)}`;
  const own = diagnostics.filter(
    ({ at, code }) => at.resource?.name === title && !OTHERS.has(code),
  );
  const ofSeverity = (severity: string) => {
    const found = own.filter(({ code }) => messageOf(code).severity === severity);
    return [...new Set(found.map(textOf))];
  };
  return {
    mistakes: ofSeverity("error"),
    warnings: ofSeverity("warning"),
    references: [...assumed.values()]
      .filter(({ name }) => name !== STAND_IN)
      .map(({ kind, namespace, name }) => ({
        kind,
        key: namespace === "" ? name : `${namespace}/${name}`,
      })),
  };
}

/** Codes that also depend on other objects: the next applied object may resolve them. */
const OTHERS: ReadonlySet<MessageCode> = new Set([
  ...(["missing-section", "reference-not-permitted", "not-attached", "hostname-mismatch"] as const),
  ...(["not-a-tcp-port", "counted-before-routing"] as const),
  ...(["pool-without-service", "targets-without-match", "selector-without-match"] as const),
  "unpublished-policy",
  ...(["no-tool-lock", "bad-tool-lock", "unlocked-target", "gone-lock-target"] as const),
  ...(["policy-without-effect", "policy-conflict", "absent-identity", "too-early"] as const),
  ...(["undelegated-route", "group-circle", "raw-config-overridden"] as const),
]);

function textOf({ code, params, at }: Diagnostic): string {
  const { text, hint } = messageOf(code);
  // The row and the parameters belong to the same code.
  const [message, advice] = [text(params as never), hint?.(params as never)];
  const path = at.path.slice(at.resource?.depth ?? 0);
  const place = path.length === 0 ? "" : `${formatPath(path)}: `;
  return `${place}${message}${advice === undefined ? "" : ` (${advice})`}`;
}

/** The object with what makes somebody read it: a Gateway that takes a route, or that has parameters. */
function served(
  object: ApiObject,
  kind: Manifest["kind"],
): { readonly whole: ApiObject; readonly others: readonly ApiObject[] } {
  const spec = recordOf(object.spec) ?? {};
  const { namespace } = object.metadata;
  switch (kind) {
    case "HTTPRoute":
    case "GRPCRoute":
    case "TCPRoute":
    case "TLSRoute":
    case "GatewayModel": {
      const parents: readonly unknown[] = Array.isArray(spec.parentRefs) ? spec.parentRefs : [];
      const parentRefs = [...parents, { name: STAND_IN }];
      const gateway = gatewayOf(namespace, { listeners: [LISTENERS[kind]] });
      return { whole: { ...object, spec: { ...spec, parentRefs } }, others: [gateway] };
    }
    case "ListenerSet": {
      const gateway = gatewayOf(namespace, {
        listeners: [{ ...LISTENERS.HTTPRoute, port: 1 }],
        allowedListeners: { namespaces: { from: "Same" } },
      });
      return {
        whole: { ...object, spec: { ...spec, parentRef: { name: STAND_IN } } },
        others: [gateway],
      };
    }
    case "GatewayParameters": {
      const [group] = object.apiVersion.split("/");
      const parametersRef = { group, kind: object.kind, name: object.metadata.name };
      const listeners = [LISTENERS.HTTPRoute];
      return {
        whole: object,
        others: [gatewayOf(namespace, { listeners, infrastructure: { parametersRef } })],
      };
    }
    default:
      return { whole: object, others: [] };
  }
}

/** A name that an object may have (RFC 1123), and none has. */
const STAND_IN = "placeholder-of-an-admission-review";

const PASSED_ON = { name: "tls", port: 443, protocol: "TLS", tls: { mode: "Passthrough" } };
const HTTP = { name: "http", port: 80, protocol: "HTTP" };
const LISTENERS = {
  HTTPRoute: HTTP,
  GRPCRoute: HTTP,
  TCPRoute: { name: "tcp", port: 80, protocol: "TCP" },
  TLSRoute: PASSED_ON,
  GatewayModel: { ...HTTP, allowedRoutes: { kinds: [{ group: "gwc.dev", kind: "GatewayModel" }] } },
} as const;

function gatewayOf(namespace: string | undefined, spec: object): ApiObject {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: STAND_IN, ...(namespace === undefined ? {} : { namespace }) },
    spec: { gatewayClassName: STAND_IN, ...spec },
  };
}
