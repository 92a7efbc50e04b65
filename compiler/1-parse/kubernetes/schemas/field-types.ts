import {
  choice,
  duration,
  integer,
  list,
  map,
  object,
  type Schema,
  shortText,
  text,
} from "../../../schema/schema.ts";

/** TinyString of the specification: 1..64 characters. */
export function tinyText(description: string): Schema {
  return text(description, { maxLength: 64 });
}

/** LongString of the specification: 1..1024 characters. */
export function longText(description: string): Schema {
  return text(description, { maxLength: 1024 });
}

/** A duration of a resource (Gateway API GEP-2257). */
export function span(description: string, rest: Omit<Schema, "type" | "description"> = {}): Schema {
  return duration(description, { ...rest, format: "gatewayDuration" });
}

/** A TCP port. */
export const port: Schema = integer("The port.", 1, 65535);

/** Gateway API `ObjectName`. */
export const objectName: Schema = text("The name.", { maxLength: 253 });

/** RFC 1123 subdomain. */
const DNS_NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/** Gateway API `SectionName`. */
export const sectionName: Schema = text("The part's name.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}$`,
});

/** Gateway API `PreciseHostname`: no wildcard. */
export const preciseHostname: Schema = text("A host name.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}$`,
  form: "a lower-case host name, without wildcard",
});

/** Gateway API `GatewayController`: DOMAIN/PATH. */
export const controllerName: Schema = text("Who implements the class: DOMAIN/PATH.", {
  maxLength: 253,
  pattern: `^${DNS_NAME}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
  form: 'DOMAIN/PATH, such as "gwc.dev/gateway"',
});

/** Gateway API `Namespace`. */
export const namespaceName: Schema = text("The namespace.", {
  maxLength: 63,
  pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
});

/** Gateway API `Group`; empty is the core group. */
export const groupName: Schema = {
  type: "string",
  maxLength: 253,
  pattern: `^$|^${DNS_NAME}$`,
  form: 'an API group, such as "gateway.networking.k8s.io", or empty for the core group',
  description: "The API group; empty for the core group.",
};

/** Gateway API `Kind`. */
export const kindName: Schema = text("The kind.", {
  maxLength: 63,
  pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
});

/** Gateway API `Hostname`. */
export const hostname: Schema = text("A host name, exact or with a first label `*`.", {
  maxLength: 253,
  format: "hostname",
});

/** Gateway API `HeaderName`. */
export const headerName: Schema = shortText("The header's name.", {
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
});

/** metav1.LabelSelector: all of its labels and expressions must hold. */
export const labelSelector: Schema = object(
  {
    matchLabels: map({ type: "string", maxLength: 63 }),
    matchExpressions: list(
      object(
        {
          key: text("The label."),
          operator: choice("How it is compared.", ["In", "NotIn", "Exists", "DoesNotExist"]),
          values: list({ type: "string" }),
        },
        { required: ["key", "operator"] },
      ),
    ),
  },
  { description: "A label selector." },
);

/** corev1.LocalObjectReference: an object of the same namespace. */
export function localObject(description: string): Schema {
  return object({ name: objectName }, { required: ["name"], description });
}

/** Gateway API `LocalObjectReference`, whose kind is written out. */
export function localReference(description: string): Schema {
  return object(
    { group: groupName, kind: kindName, name: objectName },
    { required: ["group", "kind", "name"], description },
  );
}

/** Gateway API `BackendObjectReference`: a Service or a GatewayBackend. */
export function backendReference(description: string): Schema {
  return object(backendReferenceFields, { required: ["name"], description });
}

/** The fields of a reference to a backend. */
export const backendReferenceFields: Readonly<Record<string, Schema>> = {
  group: { ...groupName, default: "" },
  kind: { ...kindName, default: "Service" },
  name: objectName,
  namespace: namespaceName,
  port,
};

/** What every document of a cluster has. `status` belongs to controllers and is not read. */
export function resource(
  spec: Schema | undefined,
  fields: Readonly<Record<string, Schema>> = {},
): Schema {
  return object(
    {
      apiVersion: text("The API group and version."),
      kind: text("The kind."),
      metadata,
      ...(spec === undefined ? {} : { spec, status: {} }),
      ...fields,
    },
    { required: spec === undefined ? ["metadata"] : ["metadata", "spec"] },
  );
}

const names: Schema = map({ type: ["string", "null"] });

/** metav1.ObjectMeta: what gwc reads of it; the rest is the cluster's. */
const metadata: Schema = {
  type: "object",
  properties: {
    name: text("The name.", { maxLength: 253 }),
    namespace: namespaceName,
    labels: names,
    annotations: names,
    creationTimestamp: { type: ["string", "null"] },
  },
  additionalProperties: true,
  required: ["name"],
};
