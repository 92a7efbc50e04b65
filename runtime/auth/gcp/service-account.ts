import { importPKCS8, SignJWT } from "jose";
import type { CredentialFields } from "../cloud/credential-fields.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import { grantedToken, postForm } from "../cloud/token-endpoint.ts";
import { CLOUD_SCOPE } from "./cloud-scope.ts";
import { expiringJwt } from "./expiring-jwt.ts";

/** Gets the access token of a service account with its key (RFC 7523). */
export async function serviceAccountToken(account: CredentialFields): Promise<Expiring<string>> {
  return grantedToken(await exchange(account, { scope: CLOUD_SCOPE }));
}

/** Gets an identity token of a service account for an audience. */
export async function serviceAccountIdToken(
  account: CredentialFields,
  audience: string,
): Promise<Expiring<string>> {
  const response = await exchange(account, { target_audience: audience });
  return expiringJwt(response.text("id_token"));
}

async function exchange(
  account: CredentialFields,
  claims: Readonly<Record<string, string>>,
): Promise<CredentialFields> {
  const endpoint = account.optionalText("token_uri") ?? "https://oauth2.googleapis.com/token";
  const kid = account.optionalText("private_key_id");
  const assertion = await new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(kid !== undefined && { kid }) })
    .setIssuer(account.text("client_email"))
    .setAudience(endpoint)
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(await signingKey(account.text("private_key")));
  return postForm(endpoint, {
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion,
  });
}

/** The library's error may quote parts of the key. */
function signingKey(pem: string): ReturnType<typeof importPKCS8> {
  return importPKCS8(pem, "RS256").catch(() => {
    throw new Error('"private_key" is not a private key');
  });
}
