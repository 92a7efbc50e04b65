import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { SECOND } from "../../process/units.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import { grantedToken } from "../cloud/token-endpoint.ts";
import { expiringJwt } from "./expiring-jwt.ts";

/** Gets the access token of the service account of a machine or pod on Google Cloud. */
export async function metadataAccessToken(env: NodeJS.ProcessEnv): Promise<Expiring<string>> {
  return grantedToken(CredentialFields.parse(await queryMetadata(env, "token"), "the metadata"));
}

/** Gets its identity token for an audience. */
export async function metadataIdToken(
  env: NodeJS.ProcessEnv,
  audience: string,
): Promise<Expiring<string>> {
  const query = new URLSearchParams({ audience, format: "full" });
  return expiringJwt((await queryMetadata(env, `identity?${query}`)).trim());
}

/** Queries https://cloud.google.com/compute/docs/metadata/querying-metadata. */
async function queryMetadata(env: NodeJS.ProcessEnv, what: string): Promise<string> {
  const host = env.GCE_METADATA_HOST || "metadata.google.internal";
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/${what}`;
  const headers = ["metadata-flavor", "Google"];
  const limits = { maxBytes: 65_536, deadline: 3 * SECOND, expectedStatus: 200 };
  return (await fetchResponse({ method: "GET", url, headers }, limits)).body.toString("utf8");
}
