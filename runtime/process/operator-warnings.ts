import { channel } from "node:diagnostics_channel";

/** The way from parts that know no gateway (they are made while its modules load) to the log of whichever runs. */
const warnings = channel("gwc:warning");

/** Warns the operator, in the process log. Never with a token, a body or a secret. */
export function warn(message: string): void {
  warnings.publish(message);
}

/** Takes the warnings from now on, until the function that is returned is called. */
export function onWarning(listener: (message: string) => void): () => void {
  const take = (message: unknown) => listener(String(message));
  warnings.subscribe(take);
  return () => {
    warnings.unsubscribe(take);
  };
}
