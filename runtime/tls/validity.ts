/** Validity of a certificate, in milliseconds since the epoch. */
export interface Validity {
  readonly start: number;
  readonly expiry: number;
}
