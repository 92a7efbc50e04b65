/** A new configuration that is prepared and takes effect when it is committed. */
export interface PreparedChange {
  /** Puts it into effect; cannot fail. */
  commit(): void;
  /** Discards it and leaves everything as it was. */
  abort(): void;
}
