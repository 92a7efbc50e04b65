import type { DrainSettings } from "./definition.ts";
import type { Listeners } from "./listeners.ts";
import type { LiveContext } from "./live-context.ts";

/** Milliseconds that streams have to write their last event once the maximum is over. */
const FINAL_GRACE = 250;
/** The same where they may be another thread's. */
const THREADS_GRACE = 1000;
/** A timer that is set for longer fires at once: 31 bits of milliseconds, 24 days. */
export const MAX_TIMER = 2_147_483_647;

/**
 * Ends the service: readiness is 503 at once, listeners stay open for the minimum, requests and streams end by
 * themselves until the maximum, then with an explicit error, and then the connections are broken off. `othersClosed`: is
 * asked for what else must have ended by itself.
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
    // A server has closed a moment before its last exchange has ended.
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
