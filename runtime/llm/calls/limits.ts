import { KiB, MiB } from "../../process/units.ts";

/** The most bytes of one event of a provider's stream: an image that a model drew is one. */
export const MAX_EVENT = 16 * MiB;

/** The most bytes of a whole response that is read to be translated, or to find out its usage. */
export const MAX_WHOLE = 64 * MiB;

/** A whole response up to this many bytes goes to the client in one write; of a longer one the beginning does not wait. */
export const MAX_AT_ONCE = 64 * KiB;

/** The most bytes of a provider's error that are read. */
export const MAX_ERROR = MiB;

/** The most bytes of a stream that wait for the beginning of a completion. */
export const MAX_HELD = 64 * KiB;

/** Statuses with which the same request may succeed elsewhere: never what is wrong with the request itself. */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);
