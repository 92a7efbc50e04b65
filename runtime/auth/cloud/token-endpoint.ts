import type { FetchRequest } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { SECOND } from "../../process/units.ts";
import { CredentialFields } from "./credential-fields.ts";
import type { Expiring } from "./expiring-value.ts";

/** Sends a request to an OAuth 2.0 endpoint (RFC 6749 3.2). Rejects with the error code of the server. */
export function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<CredentialFields> {
  return requestToken({
    method: "POST",
    url,
    headers: ["content-type", "application/x-www-form-urlencoded"],
    body: Buffer.from(new URLSearchParams(form).toString()),
  });
}

/** Requests a JSON object with a token. Rejects with errors that do not quote the response. */
export async function requestToken(request: FetchRequest): Promise<CredentialFields> {
  const { host } = new URL(request.url);
  const { status, body } = await fetchResponse(request, { maxBytes: 65_536, deadline: 5 * SECOND });
  const text = body.toString("utf8");
  if (status !== 200) throw new Error(`${host} refused: ${problemOf(text) ?? `status ${status}`}`);
  return CredentialFields.parse(text, `the response of ${host}`);
}

/** Returns the token of a response (RFC 6749 5.1). */
export function grantedToken(response: CredentialFields): Expiring<string> {
  return {
    value: response.text("access_token"),
    expires: Date.now() + response.number("expires_in") * SECOND,
  };
}

/** Returns the error code (RFC 6749 5.2), which never contains request data. */
function problemOf(text: string): string | undefined {
  const [, word] = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text) ?? [];
  return word;
}
