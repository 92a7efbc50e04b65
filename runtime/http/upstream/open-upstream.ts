import type { Lookup } from "../../net/lookup.ts";
import { CredentialedUpstream } from "./credentialed-upstream.ts";
import { Http1Upstream } from "./node/http1-upstream.ts";
import { Http2Upstream } from "./node/http2-upstream.ts";
import { NegotiatedUpstream } from "./node/negotiated-upstream.ts";
import type { Upstream, UpstreamSettings } from "./upstream.ts";

/**
 * Opens a pool of connections to one destination. Nothing is connected before the first call. `lookup`: another way from
 * its name to addresses. Throws StartupError on a malformed URL.
 */
export function openUpstream(settings: UpstreamSettings, lookup?: Lookup): Upstream {
  const { credential, signsBody = false } = settings;
  const server = serverOf(settings, lookup);
  return credential === undefined
    ? server
    : new CredentialedUpstream(server, credential, signsBody);
}

function serverOf(settings: UpstreamSettings, lookup: Lookup | undefined): Upstream {
  switch (settings.version) {
    case "http2":
      return new Http2Upstream(settings, lookup);
    case "negotiated":
      return new NegotiatedUpstream(settings, lookup);
    default:
      return new Http1Upstream(settings, lookup);
  }
}
