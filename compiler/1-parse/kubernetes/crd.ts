import type { ManifestKind } from "../../manifests/manifests.ts";
import { QUANTITY } from "../../schema/quantity.ts";
import type { Schema } from "../../schema/schema.ts";
import type { JsonSchema } from "../standalone/editor.ts";
import { kinds, OUR_GROUPS } from "./kinds.ts";
import { backendStatusSchema, modelStatusSchema, policyStatusSchema } from "./schemas/status.ts";

/** A custom resource definition for Kubernetes. */
export type CustomResourceDefinition = JsonSchema;

interface OwnKind {
  readonly kind: ManifestKind;
  readonly description: string;
  /** How a policy affects its targets (GEP-713); `undefined` if it is not a policy. */
  readonly policy?: "Direct" | "Inherited";
  readonly shortName: string;
  readonly status: Schema | undefined;
  /** Conditions that `kubectl get` prints, and their path in the status. */
  readonly shown: readonly string[];
  readonly conditions: string;
}

const OWN: readonly OwnKind[] = [
  {
    ...{ kind: "GatewayBackend", shortName: "gwbe", status: backendStatusSchema },
    description:
      "A backend other than a Service: a host, models of a provider, MCP servers, or a forward proxy. Routes refer to it in backendRefs.",
    ...{ shown: ["Accepted"], conditions: ".status.conditions" },
  },
  {
    ...{ kind: "GatewayModel", shortName: "gwmodel", status: modelStatusSchema },
    description:
      "A model by the name that clients use: of a provider, or one that stands for others. Listeners of Gateways serve it, or rules of HTTPRoutes.",
    ...{ shown: ["Accepted", "ResolvedRefs"], conditions: ".status.parents[*].conditions" },
  },
  {
    ...{ kind: "GatewayPolicy", shortName: "gwpol", status: policyStatusSchema },
    description:
      "Policies for the Gateways, listeners, routes and backends that it targets. Routes inherit the policies of their Gateway unless they override them.",
    policy: "Inherited",
    ...{ shown: ["Accepted", "Attached"], conditions: ".status.ancestors[*].conditions" },
  },
  {
    ...{ kind: "GatewayParameters", shortName: "gwpar", status: undefined },
    description:
      "Settings of Gateway pods: image, resources, environment, logging. A GatewayClass or a Gateway refers to it.",
    ...{ shown: [], conditions: "" },
  },
];

/** Returns the definitions of gwc's kinds: structural schemas, with rules over several fields in CEL. */
export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  const group = OUR_GROUPS[0] ?? "";
  return OWN.map(({ kind, shortName, description, policy, status, shown, conditions }) => {
    const singular = kind.toLowerCase();
    const plural = kind.endsWith("y")
      ? `${singular.slice(0, -1)}ies`
      : singular.endsWith("s")
        ? singular
        : `${singular}s`;
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: {
        name: `${plural}.${group}`,
        ...(policy && { labels: { "gateway.networking.k8s.io/policy": policy } }),
      },
      spec: {
        group,
        scope: "Namespaced",
        names: {
          ...{ kind, plural, singular, listKind: `${kind}List`, shortNames: [shortName] },
          categories: ["gateway-api"],
        },
        versions: [
          {
            name: "v1alpha1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { description, ...resourceSchema(kind, status) } },
            subresources: { status: {} },
            additionalPrinterColumns: [
              ...shown.map((type) => ({
                name: type,
                type: "string",
                jsonPath: `${conditions}[?(@.type=='${type}')].status`,
              })),
              { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
            ],
          },
        ],
      },
    };
  });
}

/** Returns the structural schema of a kind, for `gwc schema --kind`; `undefined` if there is no such kind. */
export function kindSchema(name: string): JsonSchema | undefined {
  const row = kinds.find(({ names }) => names.includes(name));
  if (row === undefined) return undefined;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: row.kind,
    ...structural(row.schema(), EDITED),
  };
}

function resourceSchema(kind: ManifestKind, status: Schema | undefined): JsonSchema {
  const row = kinds.find((each) => each.kind === kind);
  if (row === undefined) throw new Error(`no kind ${kind}`);
  const { properties = {} } = row.schema();
  return {
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: structural(properties.spec ?? {}, LAYERED.has(kind) ? LAYER : STORED),
      status:
        status === undefined
          ? { type: "object", "x-kubernetes-preserve-unknown-fields": true }
          : structural(status, STORED),
    },
  };
}

const PLAIN: readonly (keyof Schema)[] = [
  ...([
    "required",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
  ] as const),
  ...(["maxProperties", "minProperties", "pattern"] as const),
];

/** Options of a generated schema. */
interface SchemaForm {
  /** Whether unknown fields are mistakes. */
  readonly isClosed: boolean;
  readonly hasDefaults: boolean;
}

const EDITED: SchemaForm = { isClosed: true, hasDefaults: true };
const STORED: SchemaForm = { isClosed: false, hasDefaults: true };
/**
 * An API server would write the defaults into each layer, and those of the last layer would override the other layers.
 */
const LAYER: SchemaForm = { isClosed: false, hasDefaults: false };

/** Kinds whose fields are merged from several objects: parameters of a class and of a Gateway. */
const LAYERED: ReadonlySet<ManifestKind> = new Set(["GatewayParameters"]);

/**
 * Maximum number of places in one object that a CEL rule may apply to. API servers add up the cost of all rules for the
 * largest possible object, and refuse a definition that exceeds their limit. gwc itself checks all places.
 */
const MAX_PLACES = 4_096;
/** Assumed length of lists and maps without a maximum. */
const MANY = 1_000;

/**
 * Returns a structural schema: types everywhere, and no types inside conditions. For editors, unknown fields are
 * mistakes. `places` is the number of times that it can occur in one object.
 */
function structural(schema: Schema, form: SchemaForm, places = 1): JsonSchema {
  const { isClosed, hasDefaults } = form;
  const { type, properties, additionalProperties, items } = schema;
  const types = [type ?? []].flat();
  const own = Object.entries(properties ?? {}).filter(([, each]) => each.aliasOf === undefined);
  const isOpen = properties === undefined || additionalProperties === true;
  const isMap = typeof additionalProperties === "object";
  const entries = (isMap ? schema.maxProperties : schema.maxItems) ?? MANY;
  return {
    ...(schema.isQuantity === true
      ? { "x-kubernetes-int-or-string": true, pattern: QUANTITY }
      : isTyped(schema)
        ? { type: types[0] }
        : {}),
    ...(types.includes("null") ? { nullable: true } : {}),
    ...description(schema),
    ...Object.fromEntries(PLAIN.flatMap((word) => (word in schema ? [[word, schema[word]]] : []))),
    ...format(schema),
    ...words(schema),
    ...(own.length === 0
      ? {}
      : {
          properties: Object.fromEntries(
            own.map(([name, each]) => [
              name,
              {
                ...structural(each, form, places),
                ...(hasDefaults ? defaultOf(name, schema) : {}),
              },
            ]),
          ),
        }),
    ...(isMap
      ? { additionalProperties: structural(additionalProperties, form, places * entries) }
      : {}),
    ...(isClosed && !isOpen && !isMap && types[0] === "object"
      ? { additionalProperties: false }
      : {}),
    ...(items === undefined ? {} : { items: structural(items, form, places * entries) }),
    ...(items === undefined || isClosed ? {} : listType(schema)),
    ...(!isClosed && isOpen && !isMap && (types.length === 0 || types[0] === "object")
      ? { "x-kubernetes-preserve-unknown-fields": true }
      : {}),
    ...(places <= MAX_PLACES ? rules(schema) : {}),
  };
}

/** Returns how lists of several writers are merged: by the keys of their items, or as a whole. */
function listType({ listKey }: Schema): JsonSchema {
  return listKey === undefined
    ? { "x-kubernetes-list-type": "atomic" }
    : { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [listKey] };
}

/**
 * Returns the default of a field. It is omitted if the fields of the object are counted or must be alone: an API server
 * would write the default into every object, which would then violate its own rule.
 */
function defaultOf(name: string, schema: Schema): JsonSchema {
  const { exactlyOneOf = [], atLeastOneOf = [], atMostOneOf = [], minProperties } = schema;
  const isCounted = [...exactlyOneOf, ...atLeastOneOf, ...atMostOneOf].includes(name);
  const own = schema.properties?.[name];
  const mayStandAlone = schema.properties?.conditional !== undefined;
  if (own === undefined || !("default" in own) || isCounted || mayStandAlone) return {};
  if (minProperties !== undefined) return {};
  return { default: own.default };
}

function description({ description: text, unsupported }: Schema): JsonSchema {
  const parts = [
    text,
    unsupported === undefined ? undefined : "Not supported yet: this version of gwc refuses it.",
  ];
  const all = parts.filter((part) => part !== undefined).join(" ");
  return all === "" ? {} : { description: all };
}

const FORMATS: Readonly<Record<string, string>> = {
  gatewayDuration: "^([0-9]{1,5}(h|m|s|ms)){1,4}$",
  hostname: "^(\\*|(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$",
};

function format({ format: name }: Schema): JsonSchema {
  const pattern = FORMATS[name ?? ""];
  return pattern === undefined ? {} : { pattern };
}

/** Returns the words of an enum including unsupported ones, because the definition follows the specification. */
function words({ enum: values, unsupportedValues = {} }: Schema): JsonSchema {
  return values === undefined ? {} : { enum: [...values, ...Object.keys(unsupportedValues)] };
}

/** Returns the rules over several fields, as CEL. */
function rules(schema: Schema): JsonSchema {
  const found = [
    ...(knowsAll(schema.exactlyOneOf, schema)
      ? countRule("exactly one of", schema.exactlyOneOf, "== 1", schema)
      : countRule("at most one of", schema.exactlyOneOf, "<= 1", schema)),
    ...(knowsAll(schema.atLeastOneOf, schema)
      ? countRule("at least one of", schema.atLeastOneOf, ">= 1", schema)
      : []),
    ...countRule("at most one of", schema.atMostOneOf, "<= 1", schema),
    ...durationRule(schema),
    ...(schema.format === "cidr" ? [RANGE_RULE] : []),
    ...(schema.checks ?? []).map(({ cel, message }) => ({ rule: cel, message })),
  ];
  return found.length === 0 ? {} : { "x-kubernetes-validations": found };
}

const RANGE_RULE = {
  rule: "isIP(self) || isCIDR(self)",
  message: "must be an IP address or an address range",
};

function durationRule({
  minimumDuration,
}: Schema): readonly { readonly rule: string; readonly message: string }[] {
  if (minimumDuration === undefined) return [];
  const rule = `duration(self) >= duration('${minimumDuration}')`;
  return [{ rule, message: `must be at least ${minimumDuration}` }];
}

/** Whether rules may use a field: CEL in an API server cannot read a field of unknown type. */
function isTyped({ type }: Schema): boolean {
  const count = [type ?? []].flat().length;
  return count > 0 && count <= 2;
}

function knowsAll(fields: readonly string[] | undefined, { properties = {} }: Schema): boolean {
  return (fields ?? []).every((name) => isKnownToCel(properties[name] ?? {}));
}

/** Whether CEL rules may name a field: it has a type, and so has everything in it if it is a list or a map. */
function isKnownToCel(schema: Schema): boolean {
  const { items, additionalProperties } = schema;
  return (
    isTyped(schema) &&
    (items === undefined || isKnownToCel(items)) &&
    (typeof additionalProperties !== "object" || isKnownToCel(additionalProperties))
  );
}

function countRule(
  amount: string,
  fields: readonly string[] | undefined,
  comparison: string,
  { properties = {} }: Schema,
): readonly { readonly rule: string; readonly message: string }[] {
  const own = (fields ?? []).filter((name) => {
    const field = properties[name] ?? {};
    return field.aliasOf === undefined && isKnownToCel(field);
  });
  if (own.length === 0) return [];
  const there = own.map((name) => `has(self.${name})`).join(", ");
  return [
    {
      rule: `[${there}].filter(each, each).size() ${comparison}`,
      message: `${amount} ${own.join(", ")} must be set`,
    },
  ];
}
