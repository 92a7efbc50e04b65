import { MINUTE, SECOND } from "../../process/units.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";

/** The revisions that a target speaks: those up to 2025-11-25, or 2026-07-28. */
export type TargetEraName = "sessions" | "stateless";

/** How long a target counts as not speaking an era; another server may have replaced it since. */
const MAX_REFUSAL = 5 * MINUTE;
/** Minimum time between two probes after the target has refused a revision that it should speak. */
const SHORTEST_DOUBT = 10 * SECOND;

/**
 * The result of a probe: `true` if the server speaks the stateless revision. `undefined` if it refuses to say, as servers
 * that require credentials do. A failure means that it did not respond and its era stays unknown.
 */
export type EraVerdict = boolean | undefined | TargetFailure;

/** Whether a target speaks an era, and since when that is known. */
interface Verdict {
  readonly isSpoken: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The known revisions of a target. All clients of the target share this knowledge: the era is not secret, while the offered
 * items may differ by client.
 */
export class TargetEra {
  readonly #configured: TargetEraName | undefined;
  #sessions: Verdict | undefined;
  #stateless: Verdict | undefined;
  /** Milliseconds since the epoch. */
  #doubtedAt = 0;
  /** The probe in flight. */
  #probe: Promise<EraVerdict> | undefined;

  /** `configured` is `undefined` if the era has to be detected. */
  constructor(configured: TargetEraName | undefined) {
    this.#configured = configured;
  }

  /** Whether the target opens sessions (up to 2025-11-25); `undefined` if that is unknown or outdated. */
  get hasSessions(): boolean | undefined {
    return this.#configured === undefined
      ? current(this.#sessions)
      : this.#configured === "sessions";
  }

  /** Whether the target speaks the stateless revision (2026-07-28); `undefined` if that is unknown or outdated. */
  get isStateless(): boolean | undefined {
    return this.#configured === undefined
      ? current(this.#stateless)
      : this.#configured === "stateless";
  }

  /** Records what the target has shown; a configured era overrides it. */
  noteSessions(hasSessions: boolean): void {
    this.#sessions = { isSpoken: hasSessions, at: Date.now() };
    // A server without sessions speaks the other revision.
    if (!hasSessions) this.noteStateless(true);
  }

  noteStateless(isStateless: boolean): void {
    this.#stateless = { isSpoken: isStateless, at: Date.now() };
  }

  /** Records that the target refused a stateless request as servers do that do not know the revision. */
  doubtStateless(): void {
    const now = Date.now();
    if (now - this.#doubtedAt < SHORTEST_DOUBT) return;
    this.#doubtedAt = now;
    this.#stateless = undefined;
  }

  /** Finds out whether the target speaks the stateless revision; at most one `probe` runs at a time. */
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

/** Returns whether an era is spoken. "Yes" holds until the target refuses it, "no" expires. */
function current(verdict: Verdict | undefined): boolean | undefined {
  if (verdict?.isSpoken === false && Date.now() - verdict.at > MAX_REFUSAL) return undefined;
  return verdict?.isSpoken;
}
