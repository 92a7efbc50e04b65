import { millisOf } from "../cel/time/millis-of.ts";
import type { Exchange } from "../http/exchange.ts";

/** Maximum delay of a timer of Node.js in milliseconds; a longer one would fire at once. */
const MAX_DELAY = 2_147_000_000;

/**
 * Waits for a duration, or a number of milliseconds; not at all if the value is not positive or its expression failed.
 * Returns false if the client has left.
 */
export async function delayRequest(exchange: Exchange, duration: unknown): Promise<boolean> {
  const milliseconds = millisOf(duration);
  if (milliseconds !== undefined && milliseconds > 0) await untilAborted(exchange, milliseconds);
  return !exchange.isOver;
}

function untilAborted(exchange: Exchange, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(milliseconds, MAX_DELAY));
    exchange.onAbort(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
