import type { SseTarget, StdioTarget } from "../../mcp/transports/target.ts";
import type { Transport, TransportEvents, TransportHost } from "../../mcp/transports/transport.ts";
import { currentTrial } from "../trial.ts";
import { messageResponse } from "../trial-server.ts";

/** Replaces mcp/transports/stdio-transport.ts: starts no process. */
export function openStdioTransport(
  target: StdioTarget,
  _host: TransportHost,
  events: TransportEvents,
): Transport {
  return new TrialTransport(target.name, [], events);
}

/** Replaces mcp/transports/sse-transport.ts. */
export function openSseTransport(
  target: SseTarget,
  headers: readonly string[],
  _host: TransportHost,
  events: TransportEvents,
): Transport {
  return new TrialTransport(target.name, headers, events);
}

class TrialTransport implements Transport {
  isOpen = true;
  readonly #server: string;
  readonly #headers: readonly string[];
  readonly #events: TransportEvents;

  constructor(server: string, headers: readonly string[], events: TransportEvents) {
    this.#server = server;
    this.#headers = headers;
    this.#events = events;
  }

  send(text: string): void {
    const call = { method: "POST", path: "/", headers: this.#headers, body: text };
    currentTrial().calls.push({ server: this.#server, ...call });
    const response = messageResponse(text, this.#server);
    if (response === undefined) return;
    setImmediate(() => {
      if (this.isOpen) this.#events.onMessage(response);
    });
  }

  pause(): void {}

  resume(): void {}

  close(): void {
    this.isOpen = false;
  }
}
