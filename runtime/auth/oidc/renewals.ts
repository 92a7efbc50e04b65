import { BroadcastChannel } from "node:worker_threads";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { Remembered } from "../../process/remembered.ts";
import { MINUTE, SECOND } from "../../process/units.ts";
import type { KnownSession } from "./session.ts";

/** Maximum number of cached renewals. */
const MAX_REMEMBERED = 10_000;
/** Time in milliseconds for which requests with the earlier session get the renewed one. */
const RENEWED_TIME = MINUTE;
/** Minimum time between two attempts to renew a session, in milliseconds. */
const PAUSE = 5 * SECOND;
/** Maximum time that a thread waits for another one, which may have ended, in milliseconds. */
const MAX_WAIT = 15 * SECOND;

/**
 * Renews sessions with one request per refresh token, whatever threads of the process need it. A provider may end the whole
 * login if a token is used twice (RFC 9700 4.14.2).
 */
export class Renewals {
  readonly #name: string;
  /** Refresh tokens that any thread is renewing or has renewed. */
  readonly #begun: Remembered;
  readonly #renewals = new Map<string, Renewal>();
  /** Refresh tokens that another thread is renewing for this one. */
  readonly #awaited = new Set<string>();
  #channel: BroadcastChannel | undefined;

  /** `name`: unique within the gateway. */
  constructor(name: string) {
    this.#name = name;
    this.#begun = new Remembered(name, MAX_REMEMBERED);
  }

  /**
   * Returns the renewed session for a refresh token. Calls `renew` unless the result is known, or another thread is
   * renewing. Never rejects.
   */
  of(
    token: string,
    renew: () => Promise<KnownSession | undefined>,
    gateway: GatewayContext,
  ): Promise<KnownSession | undefined> {
    const now = Date.now();
    const known = this.#renewals.get(token);
    if (known !== undefined && now < known.end) return known.session;
    for (const [each, { end }] of this.#renewals) {
      if (end > now && this.#renewals.size < MAX_REMEMBERED) break;
      this.#renewals.delete(each);
    }
    const channel = this.#channelOf(gateway);
    const { promise: session, resolve } = Promise.withResolvers<KnownSession | undefined>();
    const renewal = { session, resolve, end: Number.POSITIVE_INFINITY };
    this.#renewals.set(token, renewal);
    if (channel !== undefined && !this.#begun.add(token, now + RENEWED_TIME, gateway)) {
      this.#awaited.add(token);
      channel.postMessage({ kind: "request", token } satisfies ThreadMessage);
      setTimeout(() => this.#finish(token, renewal, undefined), MAX_WAIT).unref();
      return session;
    }
    void renew().then((found) => {
      if (found === undefined) this.#begun.delete(token, gateway);
      this.#finish(token, renewal, found);
    });
    return session;
  }

  #finish(token: string, renewal: Renewal, session: KnownSession | undefined): void {
    if (renewal.end !== Number.POSITIVE_INFINITY) return;
    renewal.end = Date.now() + (session === undefined ? PAUSE : RENEWED_TIME);
    renewal.resolve(session);
    this.#awaited.delete(token);
  }

  /** Returns the channel between threads; `undefined` if there is only one thread. */
  #channelOf({ threads }: GatewayContext): BroadcastChannel | undefined {
    if (threads === undefined || this.#channel !== undefined) return this.#channel;
    const channel = new BroadcastChannel(this.#name);
    const onMessage = ({ data }: { readonly data: ThreadMessage }) => this.#hear(data, channel);
    channel.onmessage = onMessage;
    channel.unref();
    this.#channel = channel;
    return channel;
  }

  #hear(message: ThreadMessage, channel: BroadcastChannel): void {
    const { token } = message;
    const renewal = this.#renewals.get(token);
    // Ignores tokens that this thread does not know, and requests for those that it is waiting for itself.
    if (renewal === undefined || this.#awaited.has(token) !== (message.kind === "renewed")) return;
    if (message.kind === "renewed") {
      this.#finish(token, renewal, message.session);
      return;
    }
    void renewal.session.then((session) => {
      channel.postMessage({ kind: "renewed", token, session } satisfies ThreadMessage);
    });
  }
}

interface Renewal {
  readonly session: Promise<KnownSession | undefined>;
  readonly resolve: (session: KnownSession | undefined) => void;
  /** Milliseconds since 1970 until which it is valid. */
  end: number;
}

/** Message between threads. */
type ThreadMessage =
  | { readonly kind: "request"; readonly token: string }
  /** `undefined` if it cannot be renewed now. */
  | {
      readonly kind: "renewed";
      readonly token: string;
      readonly session: KnownSession | undefined;
    };
