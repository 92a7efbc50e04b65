import type { SignedTokenConfig } from "../../model/token-exchange.ts";
import { parseTimer } from "../../schema/duration.ts";
import { duration, type Infer, json, map, object, type Schema } from "../../schema/schema.ts";
import { readSigner, signerFields, signingKeySchema } from "./client-authentication.ts";
import { EXCHANGE_TEXTS } from "./exchange-schema.ts";
import { BEARER, DEFAULT_LIFETIME } from "./read-exchange.ts";
import { readSentPlace, sentPlaceSchema } from "./sent-credentials.ts";

/** Returns the schema of `jwtSign` in a file. */
export function signedTokenSchema() {
  return object(
    { signingKey: signingKeySchema(), ...signedTokenFields(lifetimeSchema) },
    {
      required: ["signingKey"],
      description:
        "Signs a short-lived JWT with a private key and sends it to the backend. Requests within a tenth of its lifetime, at most 30 s, share a token.",
      examples: [
        { signingKey: { file: "signing-key.pem" }, alg: "ES256", claims: { iss: "gateway" } },
      ],
    },
  );
}

/** Returns the schemas of the fields of `jwtSign` that both forms have. */
export function signedTokenFields(time: (description: string) => Schema<string>) {
  return {
    ...signerFields(),
    claims: map(json, {
      maxProperties: 64,
      propertyNames: {
        pattern: "^(?!(?:iat|exp|nbf)$)",
        form: "a claim other than iat, exp and nbf",
      },
      description: "Claims of every token. `iat` and `exp` are added.",
    }),
    ttl: time("Lifetime of a token."),
    location: sentPlaceSchema(EXCHANGE_TEXTS.location),
  };
}

/** Reads `jwtSign`; `key` is its private key. */
export function readSignedToken(
  {
    claims = {},
    ttl = DEFAULT_LIFETIME,
    location,
    ...signer
  }: Omit<Infer<ReturnType<typeof signedTokenSchema>>, "signingKey">,
  key: SignedTokenConfig["signer"]["key"],
): SignedTokenConfig {
  return {
    kind: "signedToken",
    signer: readSigner(signer, key),
    claims,
    lifetime: parseTimer(ttl) ?? 0,
    target: readSentPlace(location) ?? BEARER,
  };
}

function lifetimeSchema(description: string): Schema<string> {
  return duration(description, { default: DEFAULT_LIFETIME, minimumDuration: "1s" });
}
