import { replaceHeader } from "../../http/headers/header-list.ts";
import type { UpstreamCredential } from "../../http/upstream/upstream.ts";
import type { ExpiringValue } from "./expiring-value.ts";

/** Sends a token with every request, instead of the client's own. */
export function bearerCredential(token: ExpiringValue<string>): UpstreamCredential {
  return async ({ headers }) => {
    replaceHeader(headers, "authorization", `Bearer ${await token.current()}`);
  };
}
