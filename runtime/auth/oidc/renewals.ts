import { BroadcastChannel } from "node:worker_threads";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { Remembered } from "../../process/remembered.ts";
import { MINUTE, SECOND } from "../../process/units.ts";
import type { KnownSession } from "./session.ts";

/** Refresh tokens that are remembered to be renewed. */
const MAX_REMEMBERED = 10_000;
/** Milliseconds for which a renewed session is given to requests that still show the earlier one. */
const RENEWED_TIME = MINUTE;
/** Milliseconds between two attempts to renew one. */
const PAUSE = 5 * SECOND;
/** Milliseconds that a thread waits for another one, which may have ended. */
const MAX_WAIT = 15 * SECOND;

/**
 * Sessions that are renewed: a refresh token is shown to the provider once, whichever threads of the process have requests
 * with it. Shown twice it may end the whole login (RFC 9700 4.14.2).
 */
export class Renewals {
  readonly #name: string;
  /** The refresh tokens that one of several threads renews or has renewed. */
  readonly #begun: Remembered;
  readonly #renewals = new Map<string, Renewal>();
  /** Those of them that another thread was asked for. */
  readonly #asked = new Set<string>();
  #channel: BroadcastChannel | undefined;

  /** `name`: no other ones of the gateway have it. */
  constructor(name: string) {
    this.#name = name;
    this.#begun = new Remembered(name, MAX_REMEMBERED);
  }

  /** What comes of a refresh token: `renew` is asked unless it is known, or another thread asks. Rejects never. */
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
      this.#asked.add(token);
      channel.postMessage({ kind: "asked", token } satisfies Said);
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
    this.#asked.delete(token);
  }

  /** How a thread hears of what another one has renewed; undefined: there is one. */
  #channelOf({ threads }: GatewayContext): BroadcastChannel | undefined {
    if (threads === undefined || this.#channel !== undefined) return this.#channel;
    const channel = new BroadcastChannel(this.#name);
    const onMessage = ({ data }: { readonly data: Said }) => this.#hear(data, channel);
    channel.onmessage = onMessage;
    channel.unref();
    this.#channel = channel;
    return channel;
  }

  #hear(said: Said, channel: BroadcastChannel): void {
    const { token } = said;
    const renewal = this.#renewals.get(token);
    // What is nothing to this thread, or what it waits for itself, another one says.
    if (renewal === undefined || this.#asked.has(token) !== (said.kind === "renewed")) return;
    if (said.kind === "renewed") {
      this.#finish(token, renewal, said.session);
      return;
    }
    void renewal.session.then((session) => {
      channel.postMessage({ kind: "renewed", token, session } satisfies Said);
    });
  }
}

interface Renewal {
  readonly session: Promise<KnownSession | undefined>;
  readonly resolve: (session: KnownSession | undefined) => void;
  /** Milliseconds since 1970 until which it counts. */
  end: number;
}

/** What a thread says to the others. */
type Said =
  | { readonly kind: "asked"; readonly token: string }
  /** Undefined: it can't be renewed now. */
  | {
      readonly kind: "renewed";
      readonly token: string;
      readonly session: KnownSession | undefined;
    };
