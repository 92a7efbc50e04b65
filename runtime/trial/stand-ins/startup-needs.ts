/** In the place of process/startup-needs.ts: nothing that a gateway needs has to be there for a trial. */
export function requireAtStart(): void {}
