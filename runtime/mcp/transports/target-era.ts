import { MINUTE } from "../../process/units.ts";

/** Which revisions a target speaks: those up to 2025-11-25, or 2026-07-28. */
export type TargetEraName = "sessions" | "stateless";

/** How long a target counts as one that does not speak the stateless revision: it may become a newer one. */
const longestRefusal = 5 * MINUTE;

/**
 * What is known of the revisions that a target speaks. It is shared by all clients of the target: an era is no secret, what
 * the target offers to one of them may be.
 */
export class TargetEra {
  readonly #isSet: boolean;
  #hasSessions: boolean | undefined;
  #isStateless: boolean | undefined;
  /** Milliseconds since the epoch. */
  #refusedAt = 0;
  /** Under way while somebody finds out. */
  #probe: Promise<boolean | undefined> | undefined;

  /** Undefined: it is to be found out. */
  constructor(configured: TargetEraName | undefined) {
    this.#isSet = configured !== undefined;
    this.#hasSessions = configured && configured === "sessions";
    this.#isStateless = configured && configured === "stateless";
  }

  /** Whether it opens sessions (up to 2025-11-25); undefined: nobody has tried. */
  get hasSessions(): boolean | undefined {
    return this.#hasSessions;
  }

  /** Whether it speaks the stateless revision (2026-07-28); undefined: nobody has tried lately. */
  get isStateless(): boolean | undefined {
    const isOld = this.#isStateless === false && Date.now() - this.#refusedAt > longestRefusal;
    return isOld && !this.#isSet ? undefined : this.#isStateless;
  }

  /** Notes what the target has shown of itself; a setting stands above that. */
  noteSessions(hasSessions: boolean): void {
    if (this.#isSet) return;
    this.#hasSessions = hasSessions;
    // A server that speaks no revision with sessions speaks the other one.
    if (!hasSessions) this.#isStateless = true;
  }

  noteStateless(isStateless: boolean): void {
    if (this.#isSet) return;
    this.#isStateless = isStateless;
    this.#refusedAt = Date.now();
  }

  /** Whether it speaks the stateless revision; `probe` finds out, one at a time. Undefined: that could not be known. */
  async findStateless(probe: () => Promise<boolean | undefined>): Promise<boolean | undefined> {
    if (this.isStateless !== undefined) return this.isStateless;
    this.#probe ??= probe().finally(() => {
      this.#probe = undefined;
    });
    const found = await this.#probe;
    if (found !== undefined) this.noteStateless(found);
    return found;
  }
}
