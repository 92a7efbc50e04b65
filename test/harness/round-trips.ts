/**
 * How many requests are answered, each behind the one before, until something has happened: a measure of time that a busy
 * machine does not stretch. Throws when it has not happened after 1,000.
 */
export async function roundTripsUntil(
  hasHappened: () => boolean,
  ask: () => Promise<unknown>,
): Promise<number> {
  for (let count = 0; count < 1000; count++) {
    if (hasHappened()) return count;
    await ask();
  }
  throw new Error("1,000 requests were answered, and it has not happened");
}
