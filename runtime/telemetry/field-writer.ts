/**
 * Takes the fields of what telemetry says of a request: an access line, a span. A field whose value is undefined is left
 * out, a long one is cut. Names need no quotes.
 */
export interface FieldWriter {
  /** Any text. */
  text(name: string, value: string | undefined): void;
  /** Text of ours, which needs no quotes: an address, a version. */
  plain(name: string, value: string): void;
  number(name: string, value: number | undefined): void;
  /** JSON text: an object or a list, a number, true, false or null; a long one stands as text, cut. */
  json(name: string, value: string): void;
}
