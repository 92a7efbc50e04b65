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

// Core kinds are only validated as far as gwc reads them: a cluster may know more fields than this version.

const wholeNumber: Schema<number> = { type: "integer" };
const optionalText = (description: string) => nullable(anyText({ description }));
const flag = nullable(boolean("Whether the condition holds."));
const keys = (description: string) => nullable(map(nullable(anyText()), { description }));

/** v1 Service. */
export const serviceSchema = resource(
  openObject({
    type: choice("Type of the Service.", ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
    clusterIP: optionalText("Its address in the cluster; `None` if it has no address."),
    externalName: optionalText("DNS name that the Service is an alias of."),
    selector: keys("Labels of its pods."),
    ports: list(
      openObject(
        {
          name: optionalText("The port's name."),
          port,
          targetPort: nullable(
            either(wholeNumber, anyText(), {
              description: "Port of its pods, or the name of the port.",
            }),
          ),
          appProtocol: optionalText(
            "Protocol: `kubernetes.io/h2c` is HTTP/2 without TLS, `gwc.dev/a2a` an agent that speaks A2A.",
          ),
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
  addressType: choice("Type of the addresses.", ["IPv4", "IPv6", "FQDN"]),
  endpoints: nullable(
    list(
      openObject(
        {
          addresses: list(text("An address."), {
            minItems: 1,
            description: "Addresses of the endpoint.",
          }),
          conditions: openObject({ ready: flag }, { description: "Whether it accepts requests." }),
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

/** v1 Secret: gwc reads its keys, and never copies a value. */
export const secretSchema = document({
  type: anyText({ description: "Type of the content, such as `kubernetes.io/tls`; not read." }),
  immutable: flag,
  data: keys("Values in base64; gwc reads only their keys."),
  stringData: keys("Values as strings; gwc reads only their keys."),
});

/** v1 ConfigMap. */
export const configMapSchema = document({
  immutable: flag,
  data: keys("Values as strings."),
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
        { minItems: 1, maxItems: 16, description: "Resources that may refer to this namespace." },
      ),
      to: list(
        object(
          { group: groupName, kind: kindName, name: objectName },
          { required: ["group", "kind"] },
        ),
        { minItems: 1, maxItems: 16, description: "Resources that they may refer to." },
      ),
    },
    { required: ["from", "to"] },
  ),
);
