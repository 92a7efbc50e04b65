/** Registers who is told once that nobody waits for a result any more; at once when it is so already. */
export type OnAbort = (abort: () => void) => void;
