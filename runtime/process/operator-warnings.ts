import { channel } from "node:diagnostics_channel";

/** Channel from modules that cannot know a gateway, because they are loaded before it starts, to the log of the running one. */
const warnings = channel("gwc:warning");

/** Warns the operator in the process log. Never pass a token, a body or a secret. */
export function warn(message: string): void {
  warnings.publish(message);
}

/** Receives the warnings until the returned function is called. */
export function onWarning(listener: (message: string) => void): () => void {
  const take = (message: unknown) => listener(String(message));
  warnings.subscribe(take);
  return () => {
    warnings.unsubscribe(take);
  };
}
