/**
 * Thrown when a decision depends on a header or parameter that the request repeats: servers may read another line than the
 * gateway. The engine answers 400.
 */
export class AmbiguousRequest extends Error {}
