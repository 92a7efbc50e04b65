/** A request that goes to Envoy and to the gateway alike. */
export interface OracleRequest {
  /** The behaviour that it shows. */
  readonly name: string;
  /** The listener of Envoy and the route of the gateway; its path begins with it. */
  readonly setup: string;
  readonly method?: string;
  /** The rest of its path, with a query. */
  readonly path?: string;
  /** By name; several values are several fields. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  /** Trailers after the body, which is chunked then. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/** A header that a server sets, as the protocols' JSON has it. */
export function option(key: string, value: string, more: object = {}): object {
  return { header: { key, value }, ...more };
}

/** The same with its bytes. */
export function rawOption(key: string, value: string, more: object = {}): object {
  return { header: { key, raw_value: Buffer.from(value).toString("base64") }, ...more };
}
