import type { DrainSettings } from "./definition.ts";
import type { Listeners } from "./listeners.ts";
import type { LiveContext } from "./live-context.ts";

/** Milliseconds that streams have for their last event once the maximum is over. */
const FINAL_GRACE = 250;
/** The same if streams may belong to another thread. */
const THREADS_GRACE = 1000;
/** Longest timer: 31 bits of milliseconds, 24 days. A longer one would fire at once. */
export const MAX_TIMER = 2_147_483_647;

/**
 * Shuts the service down: readiness is 503 at once, listeners stay open for the minimum, requests and streams may end by
 * themselves until the maximum, then end with an explicit error, and finally their connections are aborted. `othersClosed`:
 * resolves when everything else has ended by itself.
 */
export async function drain(
  context: LiveContext,
  listeners: Listeners,
  settings: DrainSettings,
  othersClosed?: () => Promise<void>,
): Promise<void> {
  context.isDraining = true;
  await pause(settings.min);
  const closed = listeners.close().then(othersClosed);
  if (!(await endsWithin(closed, settings.max - settings.min))) {
    context.reachDeadline();
    if (!(await endsWithin(closed, othersClosed ? THREADS_GRACE : FINAL_GRACE)))
      listeners.closeAllConnections();
    await closed;
    // A server closes a moment before its last exchange ends.
    await pause(0);
  }
  context.closeSessions();
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(milliseconds, MAX_TIMER)));
}

async function endsWithin(work: Promise<void>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((resolve) => {
    const time = Math.min(Math.max(0, milliseconds), MAX_TIMER);
    timer = setTimeout(() => resolve(false), time);
  });
  const ended = await Promise.race([work.then(() => true), timeUp]);
  clearTimeout(timer);
  return ended;
}
