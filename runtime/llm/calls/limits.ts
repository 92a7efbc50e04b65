import { KiB, MiB } from "../../process/units.ts";

/** Maximum bytes of one event of a provider's stream. A generated image is one event. */
export const MAX_EVENT = 16 * MiB;

/** Maximum bytes of a whole response that is read for translation, or for its usage. */
export const MAX_WHOLE = 64 * MiB;

/** Maximum bytes of a whole response that is sent in one write. Longer responses start before they are complete. */
export const MAX_AT_ONCE = 64 * KiB;

/** Maximum bytes of a provider's error that are read. */
export const MAX_ERROR = MiB;

/** Maximum bytes of a stream that wait for the start of a completion. */
export const MAX_HELD = 64 * KiB;

/** Statuses with which the same request may succeed elsewhere; never those of invalid requests. */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);
