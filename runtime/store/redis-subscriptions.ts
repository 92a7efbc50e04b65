import { type Client, isReply, openClient, type ReadConfig, reasonOf } from "./redis-client.ts";

/** Receives a message, or `undefined` if some may have been missed. */
export type ChannelListener = (message: string | undefined) => void;

/** The channels of Redis that a process listens to, on a connection of their own. */
export class RedisSubscriptions {
  readonly client: Client;
  readonly #warn: (message: string) => void;
  readonly #listeners = new Map<string, Set<ChannelListener>>();
  #isActive = false;

  constructor(settings: ReadConfig, warn: (message: string) => void) {
    this.client = openClient(settings);
    this.#warn = warn;
    this.client.on("ready", () => void this.#subscribe(Array.from(this.#listeners.keys())));
    this.client.on("close", () => this.#missMessages());
    this.client.on("message", (channel: string, text: string) => this.#notify(channel, text));
  }

  /** Whether messages are received. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Calls the listener with the messages of a channel. The returned function unsubscribes. */
  listen(channel: string, listener: ChannelListener): () => void {
    void this.receive(channel, listener);
    return () => {
      this.#listeners.get(channel)?.delete(listener);
    };
  }

  /** The same; resolves when messages are received. */
  async receive(channel: string, listener: ChannelListener): Promise<void> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(listener);
    if (this.client.status === "ready") await this.#subscribe([channel]);
  }

  async #subscribe(channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return;
    try {
      await this.client.subscribe(...channels);
      // Messages before the subscription were missed.
      for (const channel of channels) this.#notify(channel, undefined);
      this.#isActive = true;
    } catch (error) {
      this.#missMessages();
      // Without the permission (ACL: channels), values are read again instead.
      if (isReply(error))
        this.#warn(`the store does not report changes, so they are asked for: ${reasonOf(error)}`);
    }
  }

  #missMessages(): void {
    this.#isActive = false;
    for (const channel of this.#listeners.keys()) this.#notify(channel, undefined);
  }

  #notify(channel: string, message: string | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(message);
  }
}
