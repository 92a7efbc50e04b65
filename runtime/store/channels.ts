/** Channels between the replicas that share a store. They deliver in order and at most once. */
export interface Channels {
  /** Resolves when texts for this name are received. Rejects with a StoreError if that is impossible. */
  receive(name: string, listener: (text: string) => void): Promise<void>;
  /** Sends a text to the replica that receives this name. Rejects with a StoreError if the store does not respond. */
  send(name: string, text: string): Promise<void>;
}
