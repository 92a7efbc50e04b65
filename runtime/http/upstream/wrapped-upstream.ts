import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "./upstream.ts";

/** An upstream that sends requests in its own way and is otherwise the same as another one. */
export abstract class WrappedUpstream implements Upstream {
  protected readonly server: Upstream;

  constructor(server: Upstream) {
    this.server = server;
  }

  get name(): string {
    return this.server.name;
  }

  get origin(): string {
    return this.server.origin;
  }

  get authority(): string {
    return this.server.authority;
  }

  get keepsHost(): boolean {
    return this.server.keepsHost;
  }

  get path(): string {
    return this.server.path;
  }

  get basePath(): string {
    return this.server.basePath;
  }

  get takesTrailers(): boolean {
    return this.server.takesTrailers;
  }

  abstract send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest;

  upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    return this.server.upgrade(call, protocol, handler);
  }

  close(): void {
    this.server.close();
  }
}

/** A request that is never sent: its handler gets the failure later, as for every failure. */
export class UnsentRequest implements UpstreamRequest {
  #isAborted = false;

  constructor(handler: UpstreamHandler, failure: UpstreamFailure) {
    queueMicrotask(() => {
      if (!this.#isAborted) handler.onError(failure);
    });
  }

  abort(): void {
    this.#isAborted = true;
  }

  resume(): void {}
}
