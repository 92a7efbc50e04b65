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

/** A duration of a resource (Gateway API GEP-2257). */
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

/** Gateway API `PreciseHostname`: no wildcard. */
export const preciseHostname = text("A host name.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}$`,
  form: "a lower-case host name, without wildcard",
});

/** Gateway API `GatewayController`: DOMAIN/PATH. */
export const controllerName = text("Who implements the class: DOMAIN/PATH.", {
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
export const hostname = text("A host name, exact or with a first label `*`.", {
  maxLength: 253,
  format: "hostname",
});

/** Gateway API `HeaderName`. */
export const headerName = shortText("The header's name.", {
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
});

/** metav1.LabelSelector: all of its labels and expressions must hold. */
export const labelSelector = object(
  {
    matchLabels: map(anyText({ maxLength: 63 }), {
      description: "Labels, each with the value that it must have.",
    }),
    matchExpressions: list(
      object(
        {
          key: text("The label."),
          operator: choice("How it is compared.", ["In", "NotIn", "Exists", "DoesNotExist"]),
          values: list(anyText(), { description: "The values for In and NotIn." }),
        },
        { required: ["key", "operator"] },
      ),
      { description: "Conditions on labels." },
    ),
  },
  { description: "A label selector." },
);

/** corev1.LocalObjectReference: an object of the same namespace. */
export function localObject(description: string) {
  return object({ name: objectName }, { required: ["name"], description });
}

/** Gateway API `LocalObjectReference`, whose kind is written out. */
export function localReference(description: string) {
  return object(
    { group: groupName, kind: kindName, name: objectName },
    { required: ["group", "kind", "name"], description },
  );
}

/** Gateway API `BackendObjectReference`: a Service or a GatewayBackend. */
export function backendReference(description: string) {
  return object(backendReferenceFields, { required: ["name"], description });
}

/** A reference to a Service or a GatewayBackend as the schema lets it through. */
export type BackendReferenceValue = Infer<ReturnType<typeof backendReference>>;

/** The fields of a reference to a backend. */
export const backendReferenceFields = {
  group: { ...groupName, default: "" },
  kind: { ...kindName, default: "Service" },
  name: objectName,
  namespace: namespaceName,
  port,
};

/** What every document of Kubernetes has, around the fields of its kind. */
export function document<const Of extends Fields>(fields: Of) {
  return object({ ...head, ...fields }, { required: ["metadata"] });
}

/** The same with a `spec`. `status` belongs to controllers and is not read. */
export function resource<Spec>(spec: Schema<Spec>) {
  return object({ ...head, spec: described(spec), status }, { required: ["metadata", "spec"] });
}

const status: Schema = { description: "What controllers say of it; not read." };

function described<Value>(spec: Schema<Value>): Schema<Value> {
  return { description: "What is wanted.", ...spec };
}

function names(description: string) {
  return map(nullable(anyText()), { description });
}

/** metav1.ObjectMeta: what gwc reads of it; the rest is the cluster's. */
const metadata = openObject(
  {
    name: text("The name.", {
      maxLength: 253,
      pattern: `^${DNS_NAME}$`,
      form: 'a name of lower-case letters, digits, "-" and "."',
    }),
    namespace: namespaceName,
    labels: names("Labels, which selectors find it by."),
    annotations: names("Annotations: notes of tools."),
    creationTimestamp: nullable(
      anyText({
        description: "When it was made: of two policies that say the same the older one wins.",
      }),
    ),
  },
  { required: ["name"], description: "What the resource is called, and where it is." },
);

const head = {
  apiVersion: text("The API group and version."),
  kind: text("The kind."),
  metadata,
};
