/**
 * Writes the fields of a log line or a span. Fields whose value is `undefined` are omitted, long values are truncated.
 * Names need no quotes.
 */
export interface FieldWriter {
  /** Any string. */
  text(name: string, value: string | undefined): void;
  /** A string of the gateway that needs no quotes: an address, a version. */
  plain(name: string, value: string): void;
  number(name: string, value: number | undefined): void;
  /** A duration: `12ms`, and in JSON the same with the exact number as `NAME_ms`. */
  milliseconds(name: string, value: number): void;
  /** JSON text: an object or an array, a number, true, false or null. Long values are truncated and written as strings. */
  json(name: string, value: string): void;
}
