import { backendReference, span } from "../../../schema/kubernetes-fields.ts";
import { choice, expression, list, map, object, shortText, text } from "../../../schema/schema.ts";

const remoteKeys = object(
  {
    jwksPath: text("The path of the key set at the backend.", { maxLength: 2000 }),
    cacheDuration: span("How long fetched keys are used.", { default: "5m" }),
    backendRef: backendReference(
      "The server of the key set: a Service or a static GatewayBackend.",
    ),
  },
  { required: ["jwksPath", "backendRef"] },
);

/** `JWKS`: keys that are written out or fetched. */
export const jwksSchema = object(
  {
    remote: remoteKeys,
    inline: text("A JSON Web Key Set.", { minLength: 2, maxLength: 65536 }),
  },
  { exactlyOneOf: ["remote", "inline"] },
);

/** `Authorization`: CEL rules of one action. */
export const authorizationSchema = object(
  {
    policy: object(
      {
        matchExpressions: list(expression("A CEL expression."), { minItems: 1 }),
      },
      { required: ["matchExpressions"] },
    ),
    action: choice(
      "What it does when one of the expressions is true.",
      ["Allow", "Deny", "Require"],
      {
        default: "Allow",
      },
    ),
  },
  { required: ["policy"] },
);

/** `MCPAuthentication`: OAuth of an MCP endpoint. */
export const mcpAuthenticationSchema = object(
  {
    resourceMetadata: map({}),
    provider: choice("An identity provider whose metadata is adapted.", [
      ...["Auth0", "Keycloak", "IdpKind1", "IdpKind2"],
    ]),
    issuer: shortText("The authorization server, and the token's issuer."),
    audiences: list({ type: "string" }, { minItems: 1, maxItems: 64 }),
    jwks: remoteKeys,
    mode: choice("What happens without a valid token.", ["Strict", "Optional", "Permissive"]),
  },
  { required: ["jwks"] },
);
