import { readFile } from "node:fs/promises";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { SECOND } from "../../process/units.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import { grantedToken, postForm, requestToken } from "../cloud/token-endpoint.ts";
import { CLOUD_SCOPE } from "./cloud-scope.ts";
import { expiringJwt } from "./expiring-jwt.ts";

/**
 * Exchanges the token of an external workload for an access token (RFC 8693), or for that of a service account to
 * impersonate.
 */
export async function exchangedToken(account: CredentialFields): Promise<Expiring<string>> {
  const federated = grantedToken(await federate(account));
  const url = account.optionalText("service_account_impersonation_url");
  if (url === undefined) return federated;
  const response = await impersonate(url, federated.value, { scope: [CLOUD_SCOPE] });
  const expires = Date.parse(response.text("expireTime"));
  if (Number.isNaN(expires)) throw new Error("the service account's token has no expiry");
  return { value: response.text("accessToken"), expires };
}

/** Gets an identity token of the service account that an external workload impersonates. */
export async function impersonatedIdToken(
  account: CredentialFields,
  audience: string,
): Promise<Expiring<string>> {
  const url = account.text("service_account_impersonation_url");
  const { value } = grantedToken(await federate(account));
  const service = url.replace(/:generateAccessToken$/, ":generateIdToken");
  const response = await impersonate(service, value, { audience, includeEmail: true });
  return expiringJwt(response.text("token"));
}

async function federate(account: CredentialFields): Promise<CredentialFields> {
  const url = account.optionalText("token_url") ?? "https://sts.googleapis.com/v1/token";
  return postForm(url, {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    audience: account.text("audience"),
    scope: CLOUD_SCOPE,
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    subject_token: await subjectToken(account.object("credential_source")),
    subject_token_type: account.text("subject_token_type"),
  });
}

function impersonate(url: string, token: string, body: object): Promise<CredentialFields> {
  return requestToken({
    method: "POST",
    url,
    headers: ["authorization", `Bearer ${token}`, "content-type", "application/json"],
    body: Buffer.from(JSON.stringify(body)),
  });
}

/** Returns the workload's own token, from a file or a server. */
async function subjectToken(source: CredentialFields | undefined): Promise<string> {
  const file = source?.optionalText("file");
  const url = source?.optionalText("url");
  if (source === undefined || (file === undefined && url === undefined)) {
    throw new Error('only "file" and "url" are supported in "credential_source"');
  }
  const text =
    file === undefined ? await fetchSubject(url ?? "", source) : await readFile(file, "utf8");
  const format = source.object("format");
  if (format?.optionalText("type") !== "json") return text.trim();
  const field = format.text("subject_token_field_name");
  return CredentialFields.parse(text, "the workload's token").text(field);
}

async function fetchSubject(url: string, source: CredentialFields): Promise<string> {
  const headers = (source.object("headers")?.texts ?? []).flat();
  const limits = { maxBytes: 65_536, deadline: 5 * SECOND, expectedStatus: 200 };
  return (await fetchResponse({ method: "GET", url, headers }, limits)).body.toString("utf8");
}
