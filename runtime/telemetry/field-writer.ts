/** Where a request went; undefined: nowhere. */
export interface RequestPlace {
  readonly listener: string | undefined;
  readonly route: string | undefined;
  /** `host:port` of the server. */
  readonly upstream: string | undefined;
}

/**
 * Takes the fields of what telemetry says of a request: an access line, a span. A field whose value is undefined is left
 * out, a long one is cut. Names need no quotes.
 */
export interface FieldWriter {
  /** Where a request went: its listener, its route and the server that it was sent to, each where it is known. */
  place(record: RequestPlace): void;
  /** Any text. */
  text(name: string, value: string | undefined): void;
  /** Text of ours, which needs no quotes: an address, a version. */
  plain(name: string, value: string): void;
  number(name: string, value: number | undefined): void;
  /** JSON text: an object or a list, a number, true, false or null; a long one stands as text, cut. */
  json(name: string, value: string): void;
}

/** Adds the place of a request field by field. */
export function addPlace(line: Pick<FieldWriter, "text">, record: RequestPlace): void {
  line.text("listener", record.listener);
  line.text("route", record.route);
  line.text("endpoint", record.upstream);
}
