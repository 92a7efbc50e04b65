/** One guard. */
export interface Guard {
  /** What the configuration calls it: `regex`, `webhook`. */
  readonly kind: string;
}
