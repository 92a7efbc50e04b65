import { readFileSync } from "node:fs";
import path from "node:path";
import { customResourceDefinitions } from "../../compiler/1-parse/kubernetes/crd.ts";

/** Defaults of a kind by their paths: `spec.rules.[].backendRefs.[].weight`. */
export type Defaults = Readonly<Record<string, unknown>>;

/** An OpenAPI schema, as far as defaults are found in it. */
interface OpenApiSchema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema | boolean;
}

/** The file with the defaults of the Gateway API, by `APIVERSION KIND`; `GATEWAY_API_DEFAULTS=write` writes it again. */
export const gatewayApiFile = path.join(import.meta.dirname, "gateway-api-defaults.json");

/** The defaults that an API server sets in Services, Secrets and slices, without what it assigns (addresses, node ports). */
const CORE: Readonly<Record<string, Defaults>> = {
  "v1 Service": {
    "spec.ports.[].protocol": "TCP",
    "spec.type": "ClusterIP",
    "spec.sessionAffinity": "None",
    "spec.internalTrafficPolicy": "Cluster",
    "spec.ipFamilyPolicy": "SingleStack",
    "spec.ipFamilies": ["IPv4"],
    "spec.clusterIP": "10.96.0.10",
    "spec.clusterIPs": ["10.96.0.10"],
  },
  "v1 Secret": { type: "Opaque" },
  "discovery.k8s.io/v1 EndpointSlice": { "ports.[].protocol": "TCP", "ports.[].name": "" },
  "v1 Namespace": { "spec.finalizers": ["kubernetes"], "status.phase": "Active" },
  "inference.networking.k8s.io/v1 InferencePool": {
    "spec.endpointPickerRef.group": "",
    "spec.endpointPickerRef.kind": "Service",
    "spec.endpointPickerRef.failureMode": "FailClose",
  },
};

/** Every default that an API server writes, by `APIVERSION KIND`. */
export function allDefaults(): ReadonlyMap<string, Defaults> {
  const gatewayApi: Record<string, Defaults> = JSON.parse(readFileSync(gatewayApiFile, "utf8"));
  const own = customResourceDefinitions().flatMap((definition) => defaultsOf(definition));
  return new Map([...Object.entries(CORE), ...Object.entries(gatewayApi), ...own]);
}

/** The defaults of the versions of a custom resource definition. */
export function defaultsOf(definition: unknown): readonly (readonly [string, Defaults])[] {
  // A definition of Kubernetes, or one that is made here.
  const { group, names, versions } = (definition as { spec: DefinitionSpec }).spec;
  return versions.map(({ name, schema }) => {
    const found = [...defaultsIn(schema.openAPIV3Schema, [])];
    const ofSpec = found.filter(([at]) => !at.startsWith("status"));
    return [`${group}/${name} ${names.kind}`, Object.fromEntries(ofSpec)] as const;
  });
}

interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly kind: string };
  readonly versions: readonly {
    readonly name: string;
    readonly schema: { readonly openAPIV3Schema: OpenApiSchema };
  }[];
}

function* defaultsIn(
  { default: own, properties, items, additionalProperties }: OpenApiSchema,
  at: readonly string[],
): Generator<readonly [string, unknown]> {
  if (own !== undefined) yield [at.join("."), own];
  for (const [name, each] of Object.entries(properties ?? {}))
    yield* defaultsIn(each, [...at, name]);
  if (items !== undefined) yield* defaultsIn(items, [...at, "[]"]);
  if (typeof additionalProperties === "object")
    yield* defaultsIn(additionalProperties, [...at, "{}"]);
}

/** A copy of an object with its defaults, as an API server stores it: outer ones first, for they may have some inside. */
export function withDefaults<Object_ extends object>(object: Object_, defaults: Defaults): Object_ {
  const copy = structuredClone(object);
  const byDepth = Object.entries(defaults)
    .map(([at, value]) => ({ steps: at.split("."), value }))
    .sort((a, b) => a.steps.length - b.steps.length);
  for (const { steps, value } of byDepth) writeDefault(copy, steps, value);
  return copy;
}

function writeDefault(
  owner: unknown,
  [step = "", ...rest]: readonly string[],
  value: unknown,
): void {
  if (typeof owner !== "object" || owner === null) return;
  if (step === "[]" || step === "{}") {
    for (const each of Object.values(owner)) writeDefault(each, rest, value);
  } else if (rest.length > 0) {
    writeDefault(Reflect.get(owner, step), rest, value);
  } else if (!Array.isArray(owner) && Reflect.get(owner, step) === undefined) {
    Reflect.set(owner, step, structuredClone(value));
  }
}
