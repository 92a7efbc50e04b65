import { Relay, TunnelRelay, upstreamCall } from "../../backends/host.ts";
import {
  type InferencePool,
  offerEndpoints,
  openInferencePool,
  pickedEndpoint,
} from "../../backends/inference-pool.ts";
import { callExchange } from "../../http/engine/inner-exchange.ts";
import type { InnerListener } from "../../http/engine/inner-request.ts";
import type { InnerUpgrade } from "../../http/engine/inner-tunnel.ts";
import type { Exchange } from "../../http/exchange.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../../http/upstream/upstream.ts";
import { UnsentRequest, WrappedUpstream } from "../../http/upstream/wrapped-upstream.ts";
import { type Processor, processExternally } from "../../policies/ext-proc.ts";

/** How an endpoint of a pool is chosen for each request. */
export interface PickingSettings {
  /** The endpoint picker. */
  readonly picker: Processor;
  /** Whether requests go to any endpoint if the picker names none. */
  readonly passesOnFailure: boolean;
  /** Whether the picker may name any address. */
  readonly takesAnyEndpoint?: true;
}

/** Returns a function that opens a provider whose server an endpoint picker chooses for each request. */
export function pickingEndpoints({
  picker,
  ...picking
}: PickingSettings): (server: UpstreamSettings) => Upstream {
  return (server) => new PickedUpstream(openInferencePool({ ...server, ...picking }), picker);
}

/** Model servers, of which an endpoint picker chooses one for each request. It gets requests as their server does. */
class PickedUpstream extends WrappedUpstream {
  readonly #pool: InferencePool;
  readonly #picker: Processor;

  constructor(pool: InferencePool, picker: Processor) {
    super(pool.anyEndpoint);
    this.#pool = pool;
    this.#picker = picker;
  }

  /** Empty: the chosen endpoint adds its own. */
  override get basePath(): string {
    return "";
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return this.#ask(call, handler);
  }

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    const onSwitch: UpgradeHandler["onSwitch"] = (headers, tunnel) =>
      handler.onSwitch(headers, tunnel);
    return this.#ask(call, handler, { protocol, onSwitch });
  }

  #ask(call: UpstreamCall, handler: UpstreamHandler, upgrade?: InnerUpgrade): UpstreamRequest {
    if (call.exchange === undefined) return new UnsentRequest(handler, NO_CLIENT);
    const request = new PickedRequest(call, call.exchange, handler, upgrade);
    request.start(this.#pool, this.#picker);
    return request;
  }
}

const NO_CLIENT: UpstreamFailure = {
  kind: "connect",
  detail: "an endpoint is only picked for requests of clients",
};

/** A request for which an endpoint is picked. */
class PickedRequest implements UpstreamRequest, InnerListener {
  readonly #client: Exchange;
  readonly #handler: UpstreamHandler;
  readonly #inner: ReturnType<typeof callExchange>;
  #isOver = false;

  constructor(
    call: UpstreamCall,
    client: Exchange,
    handler: UpstreamHandler,
    upgrade?: InnerUpgrade,
  ) {
    this.#client = client;
    this.#handler = handler;
    this.#inner = callExchange(client, call, this, upgrade);
  }

  start(pool: InferencePool, picker: Processor): void {
    this.#serve(pool, picker).catch((error: unknown) => {
      this.#fail({ kind: "connect", detail: error instanceof Error ? error.message : "failed" });
    });
  }

  async #serve(pool: InferencePool, picker: Processor): Promise<void> {
    const { exchange } = this.#inner;
    const offered = await offerEndpoints(exchange, pool);
    if (offered === undefined) return;
    if (!(await processExternally(exchange, picker, offered))) return;
    const endpoint = await pickedEndpoint(exchange, pool);
    if (endpoint === undefined || exchange.isOver) return;
    exchange.record.upstream = endpoint.name;
    this.#client.record.upstream = endpoint.name;
    const call = upstreamCall(exchange, endpoint);
    const failed = (failure: UpstreamFailure): boolean => this.#failEarly(failure);
    if (exchange.upgrade === undefined) {
      const relay = new Relay(exchange, undefined, failed);
      relay.start(endpoint.send(call, relay));
    } else {
      const relay = new TunnelRelay(exchange, exchange.upgrade, failed);
      relay.start(endpoint.upgrade(call, exchange.upgrade, relay));
    }
  }

  onHead(status: number, headers: readonly string[]): void {
    if (this.#isOver) return;
    // Without an endpoint, the provider is not reachable, as without a server.
    if (this.#inner.exchange.record.reason === "NoHealthyBackend") {
      this.#fail({ kind: "connect", detail: "the endpoint picker named no endpoint of the pool" });
    } else this.#handler.onHead(status, headers);
  }

  onData(piece: Uint8Array): boolean {
    if (this.#isOver) return true;
    return this.#handler.onData(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  }

  onEnd(isComplete: boolean): void {
    if (this.#isOver) return;
    if (isComplete) {
      this.#isOver = true;
      this.#handler.onEnd();
    } else this.#fail({ kind: "closed", detail: "the response of the endpoint was aborted" });
  }

  abort(): void {
    this.#isOver = true;
    this.#inner.call.abort();
  }

  resume(): void {
    this.#inner.call.drained();
  }

  /** Reports why the endpoint gave no response. Returns false if a part of one was forwarded. */
  #failEarly(failure: UpstreamFailure): boolean {
    if (this.#inner.exchange.headersSent) return false;
    this.#fail(failure);
    return true;
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.abort();
    this.#handler.onError(failure);
  }
}
