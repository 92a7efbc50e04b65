/** How the connections of clients are held: `frontendPolicies` of the configuration, complete. Times in milliseconds. */
export interface ConnectionSettings {
  readonly keepAlive: KeepAliveSettings;
  /** Header fields of one request, in every version of HTTP; one more is answered 431. */
  readonly maxHeaders: number;
  /** Bytes per second that the body of a request has to make where it is read whole; a slower one is answered 408. 0: any. */
  readonly minBodyRate: number;
  /** How long a connection without a request under way stays open. */
  readonly idleTimeout: number;
  /** Connections that a port has at once; one more is closed as soon as it is there. */
  readonly maxConnections: number;
  /** How long a connection lasts before it ends with the response under way; absent: as long as it is used. */
  readonly maxDuration?: number;
  readonly http2: Http2Settings;
}

/** TCP keepalive (RFC 9293 3.8.4): finds peers that are gone without an end. Times in milliseconds, whole seconds. */
export interface KeepAliveSettings {
  /** Silence before the first probe. */
  readonly time: number;
  /** Between two probes. */
  readonly interval: number;
  /** Probes without a response before the connection is given up. */
  readonly retries: number;
}

/** HTTP/2 of clients (RFC 9113); sizes in bytes, times in milliseconds. */
export interface Http2Settings {
  /** What a client may send on one stream before it has to wait. */
  readonly windowSize: number;
  /** What it may send on all streams of a connection together. */
  readonly connectionWindowSize: number;
  /** The longest frame that is accepted. */
  readonly frameSize: number;
  /** The header list of one request (RFC 9113 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE); a longer one resets its stream. */
  readonly maxHeaderSize: number;
  /** Between two PINGs of the gateway; absent: it sends none. */
  readonly keepAliveInterval?: number;
  /** How long a client may take to answer a PING before its connection is closed. */
  readonly keepAliveTimeout: number;
}
