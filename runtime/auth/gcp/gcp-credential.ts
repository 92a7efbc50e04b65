import { replaceHeader } from "../../http/headers/header-list.ts";
import type { UpstreamCredential } from "../../http/upstream/upstream.ts";
import type { ExpiringValue } from "../cloud/expiring-value.ts";

/** Shows a token of Google Cloud to every request, in the place of the client's own. */
export function gcpCredential(token: ExpiringValue<string>): UpstreamCredential {
  return async ({ headers }) => {
    replaceHeader(headers, "authorization", `Bearer ${await token.current()}`);
  };
}
