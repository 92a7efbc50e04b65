import type { Lookup } from "../../net/lookup.ts";
import { CredentialedUpstream } from "./credentialed-upstream.ts";
import { Http2Upstream } from "./node/http2-upstream.ts";
import { PooledUpstream } from "./node/pooled-upstream.ts";
import type { Upstream, UpstreamSettings } from "./upstream.ts";

/**
 * Opens a pool of connections to one destination. Nothing is connected before the first call. `lookup`: another way from
 * its name to addresses. Throws StartupError on a malformed URL.
 */
export function openUpstream(settings: UpstreamSettings, lookup?: Lookup): Upstream {
  const { credential, signsBody = false } = settings;
  const server =
    settings.version === "http2"
      ? new Http2Upstream(settings, lookup)
      : new PooledUpstream(settings, lookup);
  return credential === undefined
    ? server
    : new CredentialedUpstream(server, credential, signsBody);
}
