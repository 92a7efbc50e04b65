/** Replaces process/startup-needs.ts: a trial requires nothing at startup. */
export function requireAtStart(): void {}
