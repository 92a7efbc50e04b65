import {
  anyText,
  choice,
  list,
  listOfParts,
  map,
  object,
  type Schema,
  text,
  unsupported,
} from "../schema/schema.ts";
import {
  controllerName,
  groupName,
  hostname,
  kindName,
  labelSelector,
  localReference,
  namespaceName,
  objectName,
  port,
  preciseHostname,
  resource,
  sectionName,
} from "./field-types.ts";

/** Gateway API GatewayClass. */
export const gatewayClassSchema = resource(
  object(
    {
      controllerName,
      parametersRef: object(
        { group: groupName, kind: kindName, name: objectName, namespace: namespaceName },
        {
          required: ["group", "kind", "name"],
          description: "A GatewayParameters for all Gateways of the class.",
        },
      ),
      description: {
        type: "string",
        maxLength: 64,
        description: "What the class is for; not read.",
      },
    },
    { required: ["controllerName"] },
  ),
);

/** A reference to a Secret or ConfigMap, also of another namespace. */
function objectReference(kind: "Secret" | "ConfigMap") {
  return object(
    {
      group: { ...groupName, default: "" },
      kind: { ...kindName, default: kind },
      name: objectName,
      namespace: namespaceName,
    },
    { required: ["name"], description: `A ${kind}.` },
  );
}

const certificateReference = objectReference("Secret");

/** Gateway API `FrontendTLSValidation`. */
export const frontendValidation = object(
  {
    caCertificateRefs: list(objectReference("ConfigMap"), {
      minItems: 1,
      maxItems: 8,
      description: "ConfigMaps with the authorities that sign client certificates, `ca.crt`.",
    }),
    mode: choice(
      "What becomes of a connection without a valid certificate: it ends, or it goes on as one of nobody.",
      ["AllowValidOnly", "AllowInsecureFallback"],
      { default: "AllowValidOnly" },
    ),
  },
  { required: ["caCertificateRefs"], description: "The certificates that clients have to show." },
);

const frontendTls = object(
  { validation: frontendValidation },
  { description: "TLS with clients." },
);

/** Gateway API `GatewayTLSConfig`. */
export const gatewayTls = object(
  {
    backend: object(
      {
        clientCertificateRef: certificateReference,
      },
      { description: "What the gateway itself shows to backends that are reached over TLS." },
    ),
    frontend: object(
      {
        default: frontendTls,
        perPort: list(object({ port, tls: frontendTls }, { required: ["port", "tls"] }), {
          maxItems: 64,
          description: "For single ports, in the place of the default.",
        }),
      },
      { required: ["default"], description: "What clients have to show." },
    ),
  },
  { description: "TLS of all listeners, and of all backends." },
);

/** UDP is known, and reported where it is used; the Gateway's other listeners stay. */
const protocol: Schema<"HTTP" | "HTTPS" | "TLS" | "TCP" | "UDP"> = choice(
  "What it speaks.",
  ["HTTP", "HTTPS", "TLS", "TCP"],
  { unsupportedValues: { UDP: "UDP proxying" } },
);

const listenerFields = {
  name: sectionName,
  hostname,
  port,
  protocol,
  tls: object(
    {
      mode: choice("Who ends TLS.", ["Terminate", "Passthrough"], { default: "Terminate" }),
      certificateRefs: list(certificateReference, {
        maxItems: 64,
        description: "The Secret with the certificate, `tls.crt` and `tls.key`.",
      }),
      options: map(anyText(), { unsupported: "TLS options" }),
      frontendValidation,
    },
    {
      description: "How TLS ends here, or that it is passed on.",
      checks: [
        {
          message: "TLS that is passed on needs no certificate here",
          field: "certificateRefs",
          holds: ({ mode, certificateRefs }) =>
            mode !== "Passthrough" || certificateRefs === undefined,
          cel: "!has(self.mode) || self.mode != 'Passthrough' || !has(self.certificateRefs)",
        },
      ],
    },
  ),
  allowedRoutes: object(
    {
      namespaces: object(
        {
          from: choice("Whose routes may attach.", ["All", "Selector", "Same"], {
            default: "Same",
          }),
          selector: labelSelector,
        },
        { description: "The namespaces that routes come from." },
      ),
      kinds: list(object({ group: groupName, kind: kindName }, { required: ["kind"] }), {
        maxItems: 8,
        description: "The kinds of routes; without it those of the protocol.",
      }),
    },
    { description: "Which routes may attach." },
  ),
};

const listener = object(listenerFields, { required: ["name", "port", "protocol"] });

/** A listener with a mistake is left out whole: without its host name or the routes that it allows it would take more. */
const listeners = listOfParts(listener, {
  minItems: 1,
  maxItems: 64,
  description: "Ports, each with a protocol and a host name.",
});

/** Gateway API Gateway. */
export const gatewaySchema = resource(
  object(
    {
      gatewayClassName: objectName,
      listeners,
      addresses: list(
        object({
          type: text("What the value is.", { minLength: 1, maxLength: 253, default: "IPAddress" }),
          value: anyText({ maxLength: 253, description: "The address; any of its type without." }),
        }),
        {
          maxItems: 16,
          description:
            "The IP addresses that its Service asks the load balancer for. The status says which of them it has.",
        },
      ),
      infrastructure: object(
        {
          labels: map(
            anyText({
              maxLength: 63,
              pattern: "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
              form: "a label's value",
            }),
            { maxProperties: 8, description: "Labels of all that is made for it." },
          ),
          annotations: map(anyText({ maxLength: 4096 }), {
            maxProperties: 16,
            description: "Annotations of all that is made for it.",
          }),
          parametersRef: localReference("Where its parameters are."),
        },
        { description: "What runs it in the cluster.", hasParts: true },
      ),
      allowedListeners: object(
        {
          namespaces: object(
            {
              from: choice("Whose ListenerSets may attach.", ["All", "Selector", "Same", "None"], {
                default: "None",
              }),
              selector: labelSelector,
            },
            { description: "The namespaces that ListenerSets come from." },
          ),
        },
        { description: "Which ListenerSets may add listeners." },
      ),
      defaultScope: unsupported("default gateways"),
      backendTLS: object(
        { clientCertificateRef: certificateReference },
        { description: "The older place of `tls.backend`." },
      ),
      tls: gatewayTls,
    },
    { required: ["gatewayClassName", "listeners"], hasParts: true },
  ),
);

/** Gateway API ListenerSet. */
export const listenerSetSchema = resource(
  object(
    {
      parentRef: object(
        { group: groupName, kind: kindName, name: objectName, namespace: namespaceName },
        { required: ["name"], description: "The Gateway that gets the listeners." },
      ),
      listeners,
    },
    { required: ["parentRef", "listeners"] },
  ),
);

/** Gateway API `SubjectAltName`. */
const subjectAltName = object(
  {
    type: choice("What the name is.", ["Hostname", "URI"]),
    hostname,
    uri: text("A URI.", {
      maxLength: 253,
      pattern: "^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?",
      form: 'a URI with a scheme, such as "spiffe://example.com/a"',
    }),
  },
  {
    required: ["type"],
    examples: [{ type: "Hostname", hostname: "shop.example.com" }],
    checks: (["hostname", "uri"] as const).map((field) => {
      const type = field === "uri" ? "URI" : "Hostname";
      return {
        message: `"${field}" stands with type: ${type}, and only with it`,
        field,
        holds: (name) => (name.type === type) === Object.hasOwn(name, field),
        cel: `(self.type == '${type}') == has(self.${field})`,
      };
    }),
  },
);

/** Gateway API `BackendTLSPolicyValidation`. */
export const backendValidation = object(
  {
    caCertificateRefs: list(localReference("A CA bundle."), {
      maxItems: 8,
      description: "ConfigMaps with the authorities to trust, `ca.crt`.",
    }),
    wellKnownCACertificates: choice("Whom to trust.", ["System"]),
    hostname: preciseHostname,
    subjectAltNames: list(subjectAltName, {
      maxItems: 5,
      description: "Names of which the certificate has one, in the place of `hostname`.",
    }),
  },
  {
    required: ["hostname"],
    exactlyOneOf: ["caCertificateRefs", "wellKnownCACertificates"],
    description: "What the backend's certificate has to be.",
  },
);

/** Gateway API BackendTLSPolicy. */
export const backendTlsPolicySchema = resource(
  object(
    {
      targetRefs: list(
        object(
          { group: groupName, kind: kindName, name: objectName, sectionName },
          { required: ["group", "kind", "name"] },
        ),
        { minItems: 1, maxItems: 16, description: "The Services that are reached so." },
      ),
      validation: backendValidation,
      options: map(anyText(), { maxProperties: 16, unsupported: "TLS options" }),
    },
    { required: ["targetRefs", "validation"] },
  ),
);
