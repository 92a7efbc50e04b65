import {
  anyText,
  expression,
  inPhase,
  integer,
  list,
  object,
  type Schema,
  shortText,
  text,
} from "../schema/schema.ts";
import { secretEntry } from "./field-types.ts";

/** Default port of the API for keys. */
export const KEYS_API_PORT = 15_030;

/** Description of `keysApi`, in both forms. */
export const KEYS_API =
  "HTTP API that makes, lists, changes and revokes API keys of the store, on a port of its own. Off by default. Its OpenAPI document is at `/openapi.json`.";

const keySetFields = {
  url: text("URL of the key set, which the gateway fetches and refreshes.", {
    format: "url",
    readAtStart: true,
  }),
  inline: anyText({
    description: "The key set itself, as JSON.",
    minLength: 2,
    maxLength: 65_536,
  }),
};

/** Returns the fields of `keysApi` that both forms have. `keySet`: schema of the issuer's public keys. */
export function keysApiFields<KeySet>(keySet: Schema<KeySet>) {
  return {
    port: integer("The TCP port, which serves nothing else.", 1, 65535, { default: KEYS_API_PORT }),
    address: text("IP address of the port.", { format: "ip", default: "127.0.0.1" }),
    jwt: object(
      {
        issuer: shortText("Issuer of the tokens: must equal their `iss` exactly.", {
          examples: ["https://login.example.com"],
        }),
        audiences: list(shortText("An audience."), {
          minItems: 1,
          maxItems: 64,
          description:
            "Audiences that only tokens for this API have: the token's `aud` must contain one of them.",
        }),
        jwks: keySet,
        rule: inPhase(
          "request",
          expression(
            'CEL expression over `jwt` and `request` (without its body) that allows a request if true, such as `"platform" in jwt.groups || request.method == "GET"`: who may make, change or only list keys.',
          ),
        ),
      },
      {
        required: ["issuer", "audiences", "jwks", "rule"],
        description:
          "Tokens that its clients may send: `Authorization: Bearer TOKEN`. They need `exp` and `sub`; the log has the subject of each change.",
      },
    ),
  };
}

/** Schema of `keysApi` in GatewayParameters. */
export const keysApiParameters = object(
  {
    ...keysApiFields(
      object(keySetFields, {
        exactlyOneOf: ["url", "inline"],
        description: "Public keys of the issuer.",
      }),
    ),
    keyRef: secretEntry(
      'A Secret with the key that clients send: the key itself, or `{"keyHash": "sha256:..."}`.',
      "key",
    ),
  },
  {
    atLeastOneOf: ["keyRef", "jwt"],
    description: `${KEYS_API} \`kubectl port-forward\` reaches it in a pod.`,
  },
);
