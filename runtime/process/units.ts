// Settings are in milliseconds and bytes. Generated code writes them as multiples of these.

/** Milliseconds of a millisecond. */
export const MILLISECOND = 1;
/** Milliseconds of a second. */
export const SECOND = 1_000;
/** Milliseconds of a minute. */
export const MINUTE = 60 * SECOND;
/** Milliseconds of an hour. */
export const HOUR = 60 * MINUTE;

/** Bytes of a kibibyte. */
export const KiB = 1_024;
/** Bytes of a mebibyte. */
export const MiB = 1_024 * KiB;
