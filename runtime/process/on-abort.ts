/** Registers a callback for when the result is no longer needed; called synchronously if that is already so. */
export type OnAbort = (abort: () => void) => void;
