import type { BodySink, BodySource } from "../body/body.ts";
import type { UpstreamTunnel } from "../upstream/upstream.ts";
import type { EngineUpgrade } from "./engine.ts";
import { innerBytes } from "./inner-request.ts";

/** Another protocol that a request asks for. */
export interface InnerUpgrade {
  readonly protocol: string;
  /** The protocol has changed: `tunnel` takes the bytes of the client. */
  readonly onSwitch: (headers: readonly string[], tunnel: UpstreamTunnel) => void;
}

/** Returns the upgrade of a request that the gateway sends to itself. */
export function innerUpgrade({ protocol, onSwitch }: InnerUpgrade): EngineUpgrade {
  return {
    protocol,
    accept: (head) => {
      const tunnel = new InnerTunnel();
      onSwitch(head, tunnel);
      return tunnel;
    },
  };
}

/** Bytes of a client that has left HTTP: written on one side, and read on the other. */
class InnerTunnel implements UpstreamTunnel, BodySource {
  readonly length = undefined;
  /** Pieces that arrived before they are read. */
  readonly #early: Buffer[] = [];
  #hasEnded = false;
  #isPaused = true;
  #sink: BodySink | undefined;
  #drain: (() => void) | undefined;

  write(chunk: Uint8Array): boolean {
    const piece = innerBytes(chunk);
    if (this.#sink === undefined) this.#early.push(piece);
    else this.#sink.onData(piece);
    return !this.#isPaused;
  }

  onDrain(listener: () => void): void {
    this.#drain = listener;
  }

  end(): void {
    this.#hasEnded = true;
    this.#sink?.onEnd();
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    this.#isPaused = false;
    for (const piece of this.#early.splice(0)) sink.onData(piece);
    if (this.#hasEnded) sink.onEnd();
    else if (!this.#isPaused) this.#drain?.();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#drain?.();
  }

  discard(): void {
    this.#sink = { onData: () => {}, onEnd: () => {}, onAbort: () => {} };
    this.resume();
  }
}
