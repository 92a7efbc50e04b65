import { MINUTE, SECOND } from "../../process/units.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";

/** Which revisions a target speaks: those up to 2025-11-25, or 2026-07-28. */
export type TargetEraName = "sessions" | "stateless";

/** How long a target counts as one that does not speak an era: another server may have come into its place. */
const MAX_REFUSAL = 5 * MINUTE;
/** How often it is asked anew, at most, because it has refused what it should know. */
const SHORTEST_DOUBT = 10 * SECOND;

/**
 * What a server says of its era: `true` if it speaks the stateless revision. `undefined`: it refuses to say, as a server that
 * wants credentials does. A failure: it gave no response, and its era stays unknown.
 */
export type EraVerdict = boolean | undefined | TargetFailure;

/** Whether a target speaks an era, and since when that is known. */
interface Verdict {
  readonly isSpoken: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * What is known of the revisions that a target speaks. It is shared by all clients of the target: an era is no secret, what
 * the target offers to one of them may be.
 */
export class TargetEra {
  readonly #configured: TargetEraName | undefined;
  #sessions: Verdict | undefined;
  #stateless: Verdict | undefined;
  /** Milliseconds since the epoch. */
  #doubtedAt = 0;
  /** Under way while somebody finds out. */
  #probe: Promise<EraVerdict> | undefined;

  /** Undefined: it is to be found out. */
  constructor(configured: TargetEraName | undefined) {
    this.#configured = configured;
  }

  /** Whether it opens sessions (up to 2025-11-25); undefined: nobody has tried lately. */
  get hasSessions(): boolean | undefined {
    return this.#configured === undefined
      ? current(this.#sessions)
      : this.#configured === "sessions";
  }

  /** Whether it speaks the stateless revision (2026-07-28); undefined: nobody has tried lately. */
  get isStateless(): boolean | undefined {
    return this.#configured === undefined
      ? current(this.#stateless)
      : this.#configured === "stateless";
  }

  /** Notes what the target has shown of itself; a setting stands above that. */
  noteSessions(hasSessions: boolean): void {
    this.#sessions = { isSpoken: hasSessions, at: Date.now() };
    // A server that speaks no revision with sessions speaks the other one.
    if (!hasSessions) this.noteStateless(true);
  }

  noteStateless(isStateless: boolean): void {
    this.#stateless = { isSpoken: isStateless, at: Date.now() };
  }

  /** It has refused a request of the stateless revision, as one does that does not know it. */
  doubtStateless(): void {
    const now = Date.now();
    if (now - this.#doubtedAt < SHORTEST_DOUBT) return;
    this.#doubtedAt = now;
    this.#stateless = undefined;
  }

  /** Finds out whether it speaks the stateless revision; `probe` asks it, one at a time. */
  async findStateless(probe: () => Promise<EraVerdict>): Promise<EraVerdict> {
    if (this.isStateless !== undefined) return this.isStateless;
    this.#probe ??= probe().finally(() => {
      this.#probe = undefined;
    });
    const found = await this.#probe;
    if (typeof found === "boolean") this.noteStateless(found);
    return found;
  }
}

/** What a target speaks holds until it refuses it; what it does not speak, for a while. */
function current(verdict: Verdict | undefined): boolean | undefined {
  if (verdict?.isSpoken === false && Date.now() - verdict.at > MAX_REFUSAL) return undefined;
  return verdict?.isSpoken;
}
