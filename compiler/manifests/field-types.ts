import {
  anyText,
  choice,
  duration,
  type Fields,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  openObject,
  type Schema,
  shortText,
  text,
} from "../schema/schema.ts";

/** TinyString of the specification: 1..64 characters. */
export function tinyText(description: string) {
  return text(description, { maxLength: 64 });
}

/** LongString of the specification: 1..1024 characters. */
export function longText(description: string) {
  return text(description, { maxLength: 1024 });
}

/** Schema of a duration in a resource (Gateway API GEP-2257). */
export function span(description: string, rest: Omit<Schema, "type" | "description"> = {}) {
  return duration(description, { ...rest, format: "gatewayDuration" });
}

/** A TCP port. */
export const port = integer("The port.", 1, 65535);

/** Gateway API `ObjectName`. */
export const objectName = text("The name.", { maxLength: 253 });

/** RFC 1123 subdomain. */
const DNS_NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/** Gateway API `SectionName`. */
export const sectionName = text("The part's name.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}$`,
});

/** `SectionName` of a part that references can name. */
export const declaredSection = { ...sectionName, declares: "section" } as const;

/** `SectionName` in a reference: a part of the resource that it names. */
export const sectionReference = { ...sectionName, refersTo: ["section"] } as const;

/** Returns the schema of the name in a reference to one of these kinds; the first is the default. */
export function nameOf(...kinds: readonly string[]): typeof objectName {
  return { ...objectName, refersTo: kinds };
}

/** Gateway API `PreciseHostname`: no wildcard. */
export const preciseHostname = text("A hostname.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}$`,
  form: "a lower-case hostname without wildcard",
});

/** Gateway API `GatewayController`: DOMAIN/PATH. */
export const controllerName = text("Controller of the class: DOMAIN/PATH.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
  form: 'DOMAIN/PATH, such as "gwc.dev/gateway"',
  examples: ["gwc.dev/gateway"],
});

/** Gateway API `Namespace`. */
export const namespaceName = text("The namespace.", {
  maxLength: 63,
  pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
  form: 'a name of lower-case letters, digits and "-"',
});

/** Gateway API `Group`; empty is the core group. */
export const groupName = anyText({
  maxLength: 253,
  pattern: `^$|^${DNS_NAME}$`,
  form: 'an API group, such as "gateway.networking.k8s.io", or empty for the core group',
  description: "The API group; empty for the core group.",
});

/** Gateway API `Kind`. */
export const kindName = text("The kind.", {
  maxLength: 63,
  pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
});

/** Gateway API `Hostname`. */
export const hostname = text("A hostname, exact or with `*` as its first label.", {
  maxLength: 253,
  format: "hostname",
});

/** Gateway API `HeaderName`. */
export const headerName = shortText("The header's name.", {
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
});

/** metav1.LabelSelector: all labels and expressions must match. */
export const labelSelector = object(
  {
    matchLabels: map(anyText({ maxLength: 63 }), {
      description: "Labels with the required values.",
    }),
    matchExpressions: list(
      object(
        {
          key: text("The label."),
          operator: choice("Operator of the comparison.", [
            "In",
            "NotIn",
            "Exists",
            "DoesNotExist",
          ]),
          values: list(anyText(), { description: "The values for In and NotIn." }),
        },
        { required: ["key", "operator"] },
      ),
      { description: "Conditions on labels." },
    ),
  },
  { description: "A label selector." },
);

/** corev1.LocalObjectReference: an object in the same namespace. */
export function localObject(kind: string, description: string) {
  return object({ ...ofKind(kind), name: nameOf(kind) }, { required: ["name"], description });
}

/** An entry of a Secret in the same namespace, by default the one that is called `key`. */
export function secretEntry(description: string, key: string) {
  return object(
    {
      ...ofKind("Secret"),
      name: nameOf("Secret"),
      key: text("The entry's name.", { maxLength: 253, default: key }),
    },
    { required: ["name"], description },
  );
}

/** Group and kind of a reference that only one kind of the core group can have. */
function ofKind(kind: string) {
  return {
    group: choice("API group: the core group.", [""]),
    kind: choice("The kind.", [kind]),
  };
}

/** Gateway API `LocalObjectReference`, with an explicit kind. */
export function localReference(kind: string, description: string) {
  return object(
    { group: groupName, kind: kindName, name: nameOf(kind) },
    { required: ["group", "kind", "name"], description },
  );
}

/** Gateway API `BackendObjectReference`: a Service or a GatewayBackend. */
export function backendReference(description: string) {
  return object(backendReferenceFields, { required: ["name"], description });
}

/** Type of a valid reference to a Service or a GatewayBackend. */
export type BackendReferenceValue = Infer<ReturnType<typeof backendReference>>;

/** Fields of a reference to a backend. */
export const backendReferenceFields = {
  group: { ...groupName, default: "" },
  kind: { ...kindName, default: "Service" },
  name: nameOf("Service", "GatewayBackend", "InferencePool", "HTTPRoute"),
  namespace: namespaceName,
  port,
};

/** Schema of a Kubernetes document with the fields of its kind. */
export function document<const Of extends Fields>(fields: Of) {
  return object({ ...head, ...fields }, { required: ["metadata"] });
}

/** Schema of a Kubernetes document with a `spec`. `status` belongs to controllers and is not read. */
export function resource<Spec>(spec: Schema<Spec>) {
  return object({ ...head, spec: described(spec), status }, { required: ["metadata", "spec"] });
}

const status: Schema = { description: "Status, written by controllers; not read." };

function described<Value>(spec: Schema<Value>): Schema<Value> {
  return { description: "Desired state.", ...spec };
}

function names(description: string) {
  return map(nullable(anyText()), { description });
}

/** metav1.ObjectMeta: the fields that gwc reads; the others belong to the cluster. */
const metadata = openObject(
  {
    name: text("The name.", {
      maxLength: 253,
      pattern: `^${DNS_NAME}$`,
      form: 'a name of lower-case letters, digits, "-" and "."',
    }),
    namespace: namespaceName,
    labels: names("Labels, for selectors."),
    annotations: names("Annotations, for tools."),
    creationTimestamp: nullable(
      anyText({
        description:
          "Creation time: if two policies set the same field, the older one has precedence.",
      }),
    ),
  },
  { required: ["name"], description: "Name and namespace of the resource." },
);

const head = {
  apiVersion: text("API group and version."),
  kind: text("The kind."),
  metadata,
};
