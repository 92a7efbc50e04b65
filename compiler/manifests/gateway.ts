import { ACME_INSTEAD, HBONE_INSTEAD } from "../schema/refused-features.ts";
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
  declaredSection,
  groupName,
  hostname,
  kindName,
  labelSelector,
  localReference,
  nameOf,
  namespaceName,
  port,
  preciseHostname,
  resource,
  sectionReference,
} from "./field-types.ts";
import { isSpiffeIdentity, OF_IDENTITY, tlsOptions } from "./tls-options.ts";

/** Gateway API GatewayClass. */
export const gatewayClassSchema = resource(
  object(
    {
      controllerName,
      parametersRef: object(
        {
          group: groupName,
          kind: kindName,
          name: nameOf("GatewayParameters"),
          namespace: namespaceName,
        },
        {
          required: ["group", "kind", "name"],
          description: "A GatewayParameters for all Gateways of the class.",
        },
      ),
      description: {
        type: "string",
        maxLength: 64,
        description: "Description of the class; not read.",
      },
    },
    { required: ["controllerName"] },
  ),
);

/** Schema of a reference to a Secret or ConfigMap, possibly in another namespace. */
function objectReference(kind: "Secret" | "ConfigMap") {
  return object(
    {
      group: { ...groupName, default: "" },
      kind: { ...kindName, default: kind },
      name: nameOf(kind),
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
      description:
        "ConfigMaps with the certificate authorities (`ca.crt`) for client certificates.",
    }),
    mode: choice(
      "Whether a connection without a valid certificate is closed or continues unauthenticated.",
      ["AllowValidOnly", "AllowInsecureFallback"],
      { default: "AllowValidOnly" },
    ),
  },
  { required: ["caCertificateRefs"], description: "Required client certificates." },
);

const frontendTls = object(
  { validation: frontendValidation },
  { description: "TLS with clients." },
);

/** Gateway API `GatewayTLSConfig`. */
const gatewayTls = object(
  {
    backend: object(
      {
        clientCertificateRef: certificateReference,
      },
      { description: "Client certificate of the gateway for TLS connections to backends." },
    ),
    frontend: object(
      {
        default: frontendTls,
        perPort: list(object({ port, tls: frontendTls }, { required: ["port", "tls"] }), {
          maxItems: 64,
          description: "Settings of single ports, which replace the default.",
        }),
      },
      { required: ["default"], description: "Settings for client certificates." },
    ),
  },
  { description: "TLS settings of all listeners and all backends." },
);

/** UDP is known and reported where it is used; the other listeners of the Gateway are not affected. */
const protocol: Schema<"HTTP" | "HTTPS" | "TLS" | "TCP" | "UDP"> = choice(
  "Protocol of the listener.",
  ["HTTP", "HTTPS", "TLS", "TCP"],
  {
    unsupportedValues: { UDP: "UDP proxying", HBONE: "mesh tunnels (HBONE)" },
    misplacedFieldHints: { HBONE: HBONE_INSTEAD },
  },
);

const listenerFields = {
  name: declaredSection,
  hostname,
  port,
  protocol,
  tls: object(
    {
      mode: choice(
        "Whether the gateway terminates TLS or passes it through.",
        ["Terminate", "Passthrough"],
        { default: "Terminate" },
      ),
      certificateRefs: list(certificateReference, {
        maxItems: 64,
        description: "Secret with the certificate, `tls.crt` and `tls.key`.",
      }),
      options: tlsOptions,
      frontendValidation,
    },
    {
      description: "TLS settings of the listener.",
      misplacedFieldHints: { acme: ACME_INSTEAD },
      checks: [
        {
          message: "with mode: Passthrough no certificate is needed",
          field: "certificateRefs",
          holds: ({ mode, certificateRefs }) =>
            mode !== "Passthrough" || certificateRefs === undefined,
          cel: "!has(self.mode) || self.mode != 'Passthrough' || !has(self.certificateRefs)",
        },
        {
          message:
            '"tls-certificate-source: SPIFFE" excludes "certificateRefs" and "frontendValidation"',
          field: "options",
          holds: ({ options, certificateRefs, frontendValidation: validation }) =>
            !isSpiffeIdentity(options) ||
            (certificateRefs === undefined && validation === undefined),
          cel: `!(${OF_IDENTITY}) || !(has(self.certificateRefs) || has(self.frontendValidation))`,
        },
        {
          message: '"tls-certificate-source: SPIFFE" requires mode: Terminate',
          field: "options",
          holds: ({ mode, options }) => !isSpiffeIdentity(options) || mode !== "Passthrough",
          cel: `!(${OF_IDENTITY}) || !has(self.mode) || self.mode != 'Passthrough'`,
        },
      ],
    },
  ),
  allowedRoutes: object(
    {
      namespaces: object(
        {
          from: choice("Namespaces whose routes may attach.", ["All", "Selector", "Same"], {
            default: "Same",
          }),
          selector: labelSelector,
        },
        { description: "Namespaces of routes." },
      ),
      kinds: list(object({ group: groupName, kind: kindName }, { required: ["kind"] }), {
        maxItems: 8,
        description: "Kinds of routes; those of the protocol by default.",
      }),
    },
    { description: "Routes that may attach." },
  ),
};

const listener = object(listenerFields, { required: ["name", "port", "protocol"] });

/** A listener with a mistake is removed as a whole: without its hostname or allowed routes it would match more. */
const listeners = listOfParts(listener, {
  minItems: 1,
  maxItems: 64,
  description: "Ports, each with a protocol and a hostname.",
});

/** Gateway API Gateway. */
export const gatewaySchema = resource(
  object(
    {
      gatewayClassName: nameOf("GatewayClass"),
      listeners,
      addresses: list(
        object({
          type: text("Type of the address.", {
            minLength: 1,
            maxLength: 253,
            default: "IPAddress",
          }),
          value: anyText({
            maxLength: 253,
            description: "The address; any of its type by default.",
          }),
        }),
        {
          maxItems: 16,
          description:
            "IP addresses that its Service requests from the load balancer. The status contains those that were assigned.",
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
            { maxProperties: 8, description: "Labels of all generated resources." },
          ),
          annotations: map(anyText({ maxLength: 4096 }), {
            maxProperties: 16,
            description: "Annotations of all generated resources.",
          }),
          parametersRef: localReference("GatewayParameters", "Reference to its parameters."),
        },
        { description: "Settings of the resources that run it in the cluster.", hasParts: true },
      ),
      allowedListeners: object(
        {
          namespaces: object(
            {
              from: choice(
                "Namespaces whose ListenerSets may attach.",
                ["All", "Selector", "Same", "None"],
                {
                  default: "None",
                },
              ),
              selector: labelSelector,
            },
            { description: "Namespaces of ListenerSets." },
          ),
        },
        { description: "ListenerSets that may add listeners." },
      ),
      defaultScope: unsupported("default gateways"),
      backendTLS: object(
        { clientCertificateRef: certificateReference },
        { description: "Former place of `tls.backend`." },
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
        {
          group: groupName,
          kind: kindName,
          name: nameOf("Gateway"),
          namespace: namespaceName,
        },
        { required: ["name"], description: "Gateway that the listeners are added to." },
      ),
      listeners,
    },
    { required: ["parentRef", "listeners"] },
  ),
);

/** Gateway API `SubjectAltName`. */
const subjectAltName = object(
  {
    type: choice("Type of the name.", ["Hostname", "URI"]),
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
        message: `"${field}" and type: ${type} require each other`,
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
    caCertificateRefs: list(localReference("ConfigMap", "A CA bundle."), {
      maxItems: 8,
      description: "ConfigMaps with trusted certificate authorities (`ca.crt`).",
    }),
    wellKnownCACertificates: choice("Trusted certificate authorities.", ["System"]),
    hostname: preciseHostname,
    subjectAltNames: list(subjectAltName, {
      maxItems: 5,
      description: "Accepted names of the certificate, instead of `hostname`.",
    }),
  },
  {
    required: ["hostname"],
    exactlyOneOf: ["caCertificateRefs", "wellKnownCACertificates"],
    description: "Requirements for the certificate of the backend.",
  },
);

/** Gateway API BackendTLSPolicy. */
export const backendTlsPolicySchema = resource(
  object(
    {
      targetRefs: list(
        object(
          {
            group: groupName,
            kind: kindName,
            name: nameOf("Service"),
            sectionName: sectionReference,
          },
          { required: ["group", "kind", "name"] },
        ),
        { minItems: 1, maxItems: 16, description: "Services that it applies to." },
      ),
      validation: backendValidation,
      options: map(anyText(), { maxProperties: 16, unsupported: "TLS options" }),
    },
    { required: ["targetRefs", "validation"] },
  ),
);
