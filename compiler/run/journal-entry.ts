/** A client's request, in flight or over. Never contains a query, a body or a header, because they may hold credentials. */
export interface JournalEntry {
  /** Number of the request, in the order in which requests began. */
  readonly id: number;
  readonly at: Date;
  /** `address:port` */
  readonly client: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly listener: string | undefined;
  readonly route: string | undefined;
  /** `undefined` while the request is in flight, and if the client left without a response. */
  readonly status: number | undefined;
  /** Verified caller: subject of a token, name of an API key, or user of a password; `undefined` if anonymous. */
  readonly caller: string | undefined;
  /** Trace id; `undefined` if unknown. */
  readonly traceId: string | undefined;
  /** Why the gateway itself responded. */
  readonly reason: string | undefined;
  /** The method and target. */
  readonly upstream: string | undefined;
  /** Milliseconds; `undefined` while the request is in flight. */
  readonly duration: number | undefined;
  /** Notes of policies and backends for the access log: the subject, the tool, the reason of a refusal. */
  readonly notes: readonly (readonly [name: string, value: string])[];
}
