/**
 * A decision depends on a header or parameter that the request repeats, and a server may read another one of them than the
 * gateway. The engine answers with 400.
 */
export class AmbiguousRequest extends Error {}
