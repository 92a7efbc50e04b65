import type { Lookup } from "../../net/connector.ts";
import { CredentialedUpstream } from "./credentialed-upstream.ts";
import { HeaderChangingUpstream } from "./header-changing-upstream.ts";
import { Http1Upstream } from "./node/http1-upstream.ts";
import type { Upstream, UpstreamSettings } from "./upstream.ts";

/**
 * Opens a pool of connections to one destination. Nothing is connected before the first call. `lookup`: replaces the system's
 * name resolution. Throws StartupError on a malformed URL.
 */
export function openUpstream(settings: UpstreamSettings, lookup?: Lookup): Upstream {
  const { version: Server = Http1Upstream, credential, signsBody = false } = settings;
  const { requestHeaders, responseHeaders } = settings;
  let upstream: Upstream = new Server(settings, lookup);
  if (credential !== undefined) {
    upstream = new CredentialedUpstream(upstream, credential, signsBody);
  }
  // Credentials may cover headers, so those are changed first.
  if (requestHeaders !== undefined || responseHeaders !== undefined) {
    upstream = new HeaderChangingUpstream(upstream, settings);
  }
  const { messages, guard } = settings;
  const changed = messages === undefined ? upstream : messages(upstream);
  return guard === undefined ? changed : guard(changed);
}
