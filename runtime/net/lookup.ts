/** A way from a name to its addresses. `done` is called once: with an error, or with at least one address. */
export type Lookup = (
  name: string,
  done: (error: Error | null, addresses: readonly HostAddress[]) => void,
) => void;

/** One address of a name. */
export interface HostAddress {
  readonly address: string;
  /** 4 or 6: the version of IP. */
  readonly family: number;
}
