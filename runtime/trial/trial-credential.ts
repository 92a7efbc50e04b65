import type { JsonObject } from "../cel/variables.ts";
import type { CredentialKind } from "../http/headers/credential-location.ts";
import type { TrialIdentities } from "./trial.ts";

/** Prefix of a trial's credentials. */
const MARK = "trial.";

/** Password of every user. */
export const TRIAL_PASSWORD = "trial";

/** Returns the trial's credential as it is sent; `undefined` if it has no credential of this kind. */
export function credentialText(
  { jwt, apiKey, basicAuth }: TrialIdentities,
  kind: CredentialKind,
): string | undefined {
  switch (kind) {
    case "jwt":
      return jwt && written(jwt);
    case "apiKey":
      return apiKey && written(apiKey);
    case "basicAuth":
      return basicAuth && Buffer.from(`${basicAuth}:${TRIAL_PASSWORD}`).toString("base64");
  }
}

/** Returns the claims or the metadata of a trial's credential; `undefined` for any other credential. */
export function readCredential(text: string): JsonObject | undefined {
  if (!text.startsWith(MARK)) return undefined;
  return JSON.parse(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8"));
}

function written(value: JsonObject): string {
  return MARK + Buffer.from(JSON.stringify(value)).toString("base64url");
}
