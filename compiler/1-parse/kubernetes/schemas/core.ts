import { choice, list, map, type Schema, text } from "../../../schema/schema.ts";
import { groupName, kindName, namespaceName, objectName, resource } from "./field-types.ts";

/** Core kinds are validated as far as gwc reads them: a cluster may know more fields than this version. */
function open(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return { type: "object", properties, additionalProperties: true, required };
}

const loosePort: Schema = { type: ["integer", "null"], minimum: 1, maximum: 65535 };

/** v1 Service. */
export const serviceSchema: Schema = resource(
  open({
    type: choice("How it is reached.", ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
    clusterIP: { type: ["string", "null"] },
    externalName: { type: ["string", "null"] },
    ports: list(
      open(
        {
          name: { type: ["string", "null"] },
          port: { type: "integer", minimum: 1, maximum: 65535 },
          targetPort: { type: ["integer", "string", "null"] },
          appProtocol: { type: ["string", "null"] },
          protocol: { type: ["string", "null"] },
        },
        ["port"],
      ),
    ),
  }),
);

/** discovery.k8s.io/v1 EndpointSlice. */
export const endpointSliceSchema: Schema = resource(undefined, {
  addressType: choice("What the addresses are.", ["IPv4", "IPv6", "FQDN"]),
  endpoints: {
    ...list(
      open(
        {
          addresses: list(text("An address."), { minItems: 1 }),
          conditions: open({ ready: { type: ["boolean", "null"] } }),
        },
        ["addresses"],
      ),
    ),
    type: ["array", "null"],
  },
  ports: {
    ...list(open({ name: { type: ["string", "null"] }, port: loosePort })),
    type: ["array", "null"],
  },
});

/** v1 Namespace. */
export const namespaceSchema: Schema = resource(undefined, { spec: {}, status: {} });

/** v1 Secret: gwc reads which keys it has, and never copies a value. */
export const secretSchema: Schema = resource(undefined, {
  type: { type: "string" },
  immutable: { type: ["boolean", "null"] },
  data: { ...map({ type: ["string", "null"] }), type: ["object", "null"] },
  stringData: { ...map({ type: ["string", "null"] }), type: ["object", "null"] },
});

/** v1 ConfigMap. */
export const configMapSchema: Schema = resource(undefined, {
  immutable: { type: ["boolean", "null"] },
  data: { ...map({ type: ["string", "null"] }), type: ["object", "null"] },
  binaryData: { ...map({ type: ["string", "null"] }), type: ["object", "null"] },
});

/** gateway.networking.k8s.io ReferenceGrant. */
export const referenceGrantSchema: Schema = resource({
  type: "object",
  properties: {
    from: list(
      {
        type: "object",
        properties: {
          group: groupName,
          kind: kindName,
          namespace: namespaceName,
        },
        additionalProperties: false,
        required: ["group", "kind", "namespace"],
      },
      { minItems: 1, maxItems: 16 },
    ),
    to: list(
      {
        type: "object",
        properties: {
          group: groupName,
          kind: kindName,
          name: objectName,
        },
        additionalProperties: false,
        required: ["group", "kind"],
      },
      { minItems: 1, maxItems: 16 },
    ),
  },
  additionalProperties: false,
  required: ["from", "to"],
});
