import type { BodySource } from "../http/body/body.ts";
import type { Exchange } from "../http/exchange.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { endToEnd } from "../http/headers/hop-by-hop.ts";
import { upgradeTraced } from "../http/upstream/traced-request.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamTunnel,
} from "../http/upstream/upstream.ts";
import { Relay } from "./relay.ts";

/**
 * Asks the upstream for the protocol that the client asks for (WebSocket, ...). Bytes pass only once the upstream has
 * agreed to it: a client can't have a tunnel by asking alone. Any other response goes to the client as it is.
 */
export function tunnel(
  exchange: Exchange,
  upstream: Upstream,
  call: UpstreamCall,
  protocol: string,
  move?: (failure: UpstreamFailure) => boolean,
): void {
  const relay = new TunnelRelay(exchange, protocol, move);
  relay.start(upgradeTraced(exchange.trace, upstream, call, protocol, relay));
}

/** Passes the bytes of another protocol on, both ways. */
export class TunnelRelay extends Relay implements UpgradeHandler {
  readonly #exchange: Exchange;
  readonly #protocol: string;
  #leave: (() => void) | undefined;

  /** `move`: as of `Relay`. */
  constructor(exchange: Exchange, protocol: string, move?: (failure: UpstreamFailure) => boolean) {
    super(exchange, undefined, move);
    this.#exchange = exchange;
    this.#protocol = protocol;
  }

  onSwitch(headers: readonly string[], upstream: UpstreamTunnel): void {
    const exchange = this.#exchange;
    const agreed = headerValue(headers, "upgrade");
    if (agreed?.toLowerCase() !== this.#protocol.toLowerCase()) {
      this.onError({ kind: "protocol", detail: "changed to a protocol that nobody asked for" });
      upstream.end();
      return;
    }
    const client: BodySource = exchange.switchProtocols(endToEnd(headers, ""));
    upstream.onDrain(() => client.resume());
    client.flow({
      onData: (chunk) => {
        if (!upstream.write(chunk)) client.pause();
      },
      onEnd: () => upstream.end(),
      // The relay hears of it from the exchange.
      onAbort: () => {},
    });
    const forget = exchange.gateway.onDrainDeadline(() => exchange.abort());
    exchange.onAbort(forget);
    const leave = () => {
      forget();
      client.discard();
    };
    this.#leave = leave;
  }

  override onEnd(): void {
    super.onEnd();
    this.#leave?.();
  }
}
