import type { Lookup } from "../../net/connector.ts";
import { type HeaderModifier, modifiedHeaders } from "../headers/header-modifier.ts";
import { CredentialedUpstream } from "./credentialed-upstream.ts";
import { Http1Upstream } from "./node/http1-upstream.ts";
import type {
  HeaderChanges,
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
  UpstreamTunnel,
} from "./upstream.ts";
import { WrappedUpstream } from "./wrapped-upstream.ts";

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
  if (settings.users !== undefined) upstream = settings.users(upstream);
  // Credentials may cover headers, so those are changed first.
  if (requestHeaders !== undefined || responseHeaders !== undefined) {
    upstream = new HeaderChangingUpstream(upstream, settings);
  }
  const { messages, guard } = settings;
  const changed = messages === undefined ? upstream : messages(upstream);
  return guard === undefined ? changed : guard(changed);
}

/** An upstream with changed request or response headers. */
class HeaderChangingUpstream extends WrappedUpstream {
  readonly #changes: HeaderChanges;

  constructor(server: Upstream, changes: HeaderChanges) {
    super(server);
    this.#changes = changes;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const { responseHeaders } = this.#changes;
    const changed =
      responseHeaders === undefined ? handler : new ChangedResponse(handler, responseHeaders);
    return this.server.send(this.#changed(call), changed);
  }

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    const { responseHeaders } = this.#changes;
    const changed =
      responseHeaders === undefined ? handler : new ChangedUpgrade(handler, responseHeaders);
    return this.server.upgrade(this.#changed(call), protocol, changed);
  }

  #changed(call: UpstreamCall): UpstreamCall {
    const { requestHeaders } = this.#changes;
    if (requestHeaders === undefined) return call;
    const { set = [], add = [], remove = [] } = requestHeaders;
    for (const [name] of [...set, ...add]) call.trailers?.note(name);
    for (const name of remove) call.trailers?.note(name);
    return { ...call, headers: modifiedHeaders(call.headers, requestHeaders) };
  }
}

/** Receives a response with changed headers. */
class ChangedResponse<Handler extends UpstreamHandler> implements UpstreamHandler {
  protected readonly handler: Handler;
  protected readonly changes: HeaderModifier;

  constructor(handler: Handler, changes: HeaderModifier) {
    this.handler = handler;
    this.changes = changes;
  }

  onHead(status: number, headers: readonly string[]): void {
    this.handler.onHead(status, modifiedHeaders(headers, this.changes));
  }

  onData(chunk: Buffer): boolean {
    return this.handler.onData(chunk);
  }

  onEnd(trailers?: readonly string[]): void {
    this.handler.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    this.handler.onError(failure);
  }
}

class ChangedUpgrade extends ChangedResponse<UpgradeHandler> implements UpgradeHandler {
  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void {
    this.handler.onSwitch(modifiedHeaders(headers, this.changes), tunnel);
  }
}
