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
const optionalText = (description: string) => nullable(anyText({ description }));
const flag = nullable(boolean("Whether it is so."));
const keys = (description: string) => nullable(map(nullable(anyText()), { description }));

/** v1 Service. */
export const serviceSchema = resource(
  openObject({
    type: choice("How it is reached.", ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
    clusterIP: optionalText("Its address in the cluster; `None`: it has no address of its own."),
    externalName: optionalText("The DNS name that it stands for."),
    selector: keys("Labels of its pods."),
    ports: list(
      openObject(
        {
          name: optionalText("The port's name."),
          port,
          targetPort: nullable(
            either(wholeNumber, anyText(), {
              description: "The port of its pods, or that port's name.",
            }),
          ),
          appProtocol: optionalText("What is spoken: `kubernetes.io/h2c` is HTTP/2 without TLS."),
          protocol: optionalText("TCP, UDP or SCTP."),
        },
        { required: ["port"] },
      ),
      { description: "Its ports." },
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
          addresses: list(text("An address."), { minItems: 1, description: "Where it is." }),
          conditions: openObject({ ready: flag }, { description: "Whether it takes requests." }),
        },
        { required: ["addresses"] },
      ),
      { description: "The pods behind the Service." },
    ),
  ),
  ports: nullable(
    list(openObject({ name: optionalText("The port's name."), port: nullable(port) }), {
      description: "The ports of each endpoint.",
    }),
  ),
});

/** v1 Namespace. */
export const namespaceSchema = document({
  spec: { description: "Not read." },
  status: { description: "Not read." },
});

/** v1 Secret: gwc reads which keys it has, and never copies a value. */
export const secretSchema = document({
  type: anyText({ description: "What it holds, as `kubernetes.io/tls`; not read." }),
  immutable: flag,
  data: keys("Values in base64; gwc reads their keys alone."),
  stringData: keys("Values as text; gwc reads their keys alone."),
});

/** v1 ConfigMap. */
export const configMapSchema = document({
  immutable: flag,
  data: keys("Values as text."),
  binaryData: keys("Values in base64."),
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
        { minItems: 1, maxItems: 16, description: "Who may refer to what is here." },
      ),
      to: list(
        object(
          { group: groupName, kind: kindName, name: objectName },
          { required: ["group", "kind"] },
        ),
        { minItems: 1, maxItems: 16, description: "What may be referred to." },
      ),
    },
    { required: ["from", "to"] },
  ),
);
