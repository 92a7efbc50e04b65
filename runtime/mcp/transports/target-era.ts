/** Which revisions a target speaks: those up to 2025-11-25, or 2026-07-28. */
export type TargetEraName = "sessions" | "stateless";

/**
 * What is known of the revisions that a target speaks. It is shared by all clients of the target: an era is no secret, what
 * the target offers to one of them may be.
 */
export class TargetEra {
  readonly #isSet: boolean;
  #hasSessions: boolean | undefined;

  /** Undefined: it is to be found out. */
  constructor(configured: TargetEraName | undefined) {
    this.#isSet = configured !== undefined;
    this.#hasSessions = configured && configured === "sessions";
  }

  /** Whether it opens sessions (up to 2025-11-25); undefined: nobody has tried. */
  get hasSessions(): boolean | undefined {
    return this.#hasSessions;
  }

  /** Notes what the target has shown of itself; a setting stands above that. */
  noteSessions(hasSessions: boolean): void {
    if (!this.#isSet) this.#hasSessions = hasSessions;
  }
}
