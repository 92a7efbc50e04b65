/** A certificate that the gateway obtains while it runs. */
export interface IssuedCertificate {
  /** Returns the current one, which may have expired. Throws NotIssued while there is none. */
  issued(): IssuedPair;
  /** Calls the listener when another one is in use. The returned function unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** A certificate chain and its private key, PEM. */
export interface IssuedPair {
  readonly cert: string;
  readonly key: string;
}
