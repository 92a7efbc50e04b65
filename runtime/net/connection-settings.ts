/** Complete settings of client connections, from `frontendPolicies`. Times in milliseconds. */
export interface ConnectionSettings {
  readonly keepAlive: KeepAlive;
  /** Maximum number of header fields of a request, in every version of HTTP. More are answered with 431. */
  readonly maxHeaders: number;
  /**
   * Minimum rate of request bodies that are buffered whole, in bytes per second. Slower ones are answered with 408. 0: no
   * minimum.
   */
  readonly minBodyRate: number;
  /** How long a connection stays open without a request in flight. */
  readonly idleTimeout: number;
  /** Maximum number of connections of a port. Further ones are closed right after they are accepted. */
  readonly maxConnections: number;
  /** How long a connection lasts; it ends with the response in flight. If absent, as long as it is used. */
  readonly maxDuration?: number;
  /** Whether names of HTTP/1.1 response fields are written in lower case; as received if absent. */
  readonly lowercasesNames?: true;
  readonly http2: Http2Settings;
}

/** TCP keepalive (RFC 9293 3.8.4): finds peers that vanished without closing. Times in milliseconds, whole seconds. */
export interface KeepAliveSettings {
  /** Silence before the first probe. */
  readonly time: number;
  /** Time between two probes. */
  readonly interval: number;
  /** Probes without a response before the connection is closed. */
  readonly retries: number;
}

/** TCP keepalive; `false` for connections without it. */
export type KeepAlive = KeepAliveSettings | false;

/** HTTP/2 with clients (RFC 9113); sizes in bytes, times in milliseconds. */
export interface Http2Settings {
  /** Bytes that a client may send on one stream before it has to wait. */
  readonly windowSize: number;
  /** Bytes that a client may send on all streams of a connection together. */
  readonly connectionWindowSize: number;
  /** Maximum length of a received frame. */
  readonly frameSize: number;
  /**
   * Maximum size of a request's header list (RFC 9113 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE). A larger one resets its stream.
   */
  readonly maxHeaderSize: number;
  /** Time between two PINGs of the gateway; it sends none if absent. */
  readonly keepAliveInterval?: number;
  /** Time within which a client must answer a PING; otherwise its connection is closed. */
  readonly keepAliveTimeout: number;
}
