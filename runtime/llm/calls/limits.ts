import { KiB, MiB } from "../../process/units.ts";

/** The most bytes of one event of a provider's stream: an image that a model drew is one. */
export const maxEvent = 16 * MiB;

/** The most bytes of a whole response that is read to be translated, or to find out its usage. */
export const maxWhole = 64 * MiB;

/** A whole response up to this many bytes goes to the client in one write; of a longer one the beginning does not wait. */
export const maxAtOnce = 64 * KiB;

/** The most bytes of a provider's error that are read. */
export const maxError = MiB;

/** The most bytes of a stream that wait for the beginning of a completion. */
export const maxHeld = 64 * KiB;

/** Statuses with which the same request may succeed elsewhere: never what is wrong with the request itself. */
export const retriedStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);
