import type { Channels } from "../store/channels.ts";
import { type SessionKeys, sealSession, unsealSession } from "./session-seal.ts";

/** Name of the channel that all replicas receive. Names of single replicas are longer. */
const EVERYONE = "all";
const BINDING = "all replicas";

/**
 * Messages to all replicas that share a store, for what only one of them holds, if it is unknown which. They arrive at most once,
 * and are sealed, so that the store can neither read nor change them.
 */
export class ReplicaAnnouncements {
  readonly #channels: Channels;
  readonly #keys: SessionKeys;

  /** `keys`: keys of AES-256-GCM that the replicas share. */
  constructor(channels: Channels, keys: SessionKeys, listener: (text: string) => void) {
    this.#channels = channels;
    this.#keys = keys;
    const receive = (sealed: string) => {
      // Messages with another key are those of a replica that has another SESSION_KEY.
      const text = unsealSession(keys, BINDING, sealed);
      if (text !== undefined) listener(text);
    };
    // Nothing is received while the store does not respond.
    channels.receive(EVERYONE, receive).catch(() => {});
  }

  /** Sends a message. It is lost if the store does not respond. */
  async send(text: string): Promise<void> {
    const sealed = sealSession(this.#keys, BINDING, text);
    await this.#channels.send(EVERYONE, sealed).catch(() => {});
  }
}
