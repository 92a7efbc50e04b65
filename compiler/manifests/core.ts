import {
  anyText,
  boolean,
  choice,
  either,
  list,
  map,
  nullable,
  object,
  openObject,
  type Schema,
  text,
} from "../schema/schema.ts";
import {
  document,
  groupName,
  kindName,
  namespaceName,
  objectName,
  port,
  resource,
} from "./field-types.ts";

// Core kinds are validated as far as gwc reads them: a cluster may know more fields than this version.

const wholeNumber: Schema<number> = { type: "integer" };
const optionalText = nullable(anyText());
const flag = nullable(boolean("Whether it is so."));
const keys = nullable(map(optionalText));

/** v1 Service. */
export const serviceSchema = resource(
  openObject({
    type: choice("How it is reached.", ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
    clusterIP: optionalText,
    externalName: optionalText,
    ports: list(
      openObject(
        {
          name: optionalText,
          port,
          targetPort: nullable(either(wholeNumber, anyText())),
          appProtocol: optionalText,
          protocol: optionalText,
        },
        { required: ["port"] },
      ),
    ),
  }),
);

/** discovery.k8s.io/v1 EndpointSlice. */
export const endpointSliceSchema = document({
  addressType: choice("What the addresses are.", ["IPv4", "IPv6", "FQDN"]),
  endpoints: nullable(
    list(
      openObject(
        {
          addresses: list(text("An address."), { minItems: 1 }),
          conditions: openObject({ ready: flag }),
        },
        { required: ["addresses"] },
      ),
    ),
  ),
  ports: nullable(list(openObject({ name: optionalText, port: nullable(port) }))),
});

/** v1 Namespace. */
export const namespaceSchema = document({ spec: {}, status: {} });

/** v1 Secret: gwc reads which keys it has, and never copies a value. */
export const secretSchema = document({
  type: anyText(),
  immutable: flag,
  data: keys,
  stringData: keys,
});

/** v1 ConfigMap. */
export const configMapSchema = document({
  immutable: flag,
  data: keys,
  binaryData: keys,
});

/** gateway.networking.k8s.io ReferenceGrant. */
export const referenceGrantSchema = resource(
  object(
    {
      from: list(
        object(
          { group: groupName, kind: kindName, namespace: namespaceName },
          { required: ["group", "kind", "namespace"] },
        ),
        { minItems: 1, maxItems: 16 },
      ),
      to: list(
        object(
          { group: groupName, kind: kindName, name: objectName },
          { required: ["group", "kind"] },
        ),
        { minItems: 1, maxItems: 16 },
      ),
    },
    { required: ["from", "to"] },
  ),
);
