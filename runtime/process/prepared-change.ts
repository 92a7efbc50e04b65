/** Another configuration, which is served once it is committed. */
export interface PreparedChange {
  /** Serves it from now on; can't fail. */
  commit(): void;
  /** Leaves all as it was. */
  abort(): void;
}
