/** Milliseconds: only a failure waits that long, and a busy machine may be slow. */
export const PATIENCE = 120_000;
