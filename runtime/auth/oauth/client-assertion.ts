import { randomUUID } from "node:crypto";
import { SECOND } from "../../process/units.ts";
import { type SignerSettings, signJwt } from "../signed-jwt.ts";

/** Authentication of a client by a signed assertion (RFC 7523 2.2, `private_key_jwt`). */
export interface ClientAssertionSettings extends SignerSettings {
  readonly audience: string;
}

/** Returns the form parameters that authenticate a client in one request. */
export type ClientParameters = (
  clientId: string,
) => Promise<readonly (readonly [string, string])[]>;

/** Lifetime of an assertion in milliseconds: it is used at once. */
const LIFETIME = 300 * SECOND;

/** Signs an assertion for each request, which no other request repeats. */
export function clientAssertion({
  audience,
  ...signer
}: ClientAssertionSettings): ClientParameters {
  return async (clientId) => {
    const claims = { iss: clientId, sub: clientId, aud: audience, jti: randomUUID() };
    return [
      ["client_id", clientId],
      ["client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
      ["client_assertion", await signJwt(signer, claims, LIFETIME)],
    ];
  };
}
