import { byteCount, duration, integer, type Schema } from "../schema/schema.ts";

/** A time as one of the forms spells it. */
type TimeSchema = (
  description: string,
  rest: { readonly minimumDuration: string; readonly default?: string },
) => Schema<string>;

/** Larger ones are taken as the largest that there are (RFC 9113 6.9.1), smaller ones as the smallest. */
const ANY_WINDOW = [1, Number.MAX_SAFE_INTEGER] as const;

/** What both forms say of HTTP with clients: the same names, bounds and defaults. */
export function frontendHttpFields(time: TimeSchema = duration) {
  return {
    maxBufferSize: byteCount(
      "The most bytes of a body that is read as a whole, for policies and MCP messages that need it so; never more than " +
        "`config.maxBufferedBytes`.",
      1,
      Number.MAX_SAFE_INTEGER,
      { default: 2_097_152 },
    ),
    http1MaxHeaders: integer("Header fields of one request; more is a 431.", 1, 4096, {
      default: 100,
    }),
    http1IdleTimeout: time(
      "How long a connection stays open without a request, or while its client takes nothing of a response.",
      {
        minimumDuration: "1s",
        default: "10m",
      },
    ),
    http2WindowSize: byteCount(
      "Bytes that a client may send on one stream before it has to wait.",
      ...ANY_WINDOW,
      { default: 262_144 },
    ),
    http2ConnectionWindowSize: byteCount(
      "Bytes that a client may send on all streams of a connection before it has to wait; at least 65535.",
      ...ANY_WINDOW,
      { default: 1_048_576 },
    ),
    http2FrameSize: byteCount("The longest HTTP/2 frame that is taken.", 16_384, 1_677_215, {
      default: 16_384,
    }),
    http2KeepaliveInterval: time("Between two HTTP/2 PINGs; none without it.", {
      minimumDuration: "1s",
    }),
    http2KeepaliveTimeout: time(
      "How long a client may take to answer a PING before its connection is closed.",
      { minimumDuration: "100ms", default: "20s" },
    ),
  };
}

/** How long a header list of HTTP/2 may be, in both forms. */
export function http2HeaderSize() {
  return byteCount(
    "Bytes of an HTTP/2 header list, with 32 for each field; a longer one resets its stream.",
    1024,
    1_048_576,
    { default: 65_536 },
  );
}

/** How long a TLS handshake may take, in both forms. */
export function handshakeTimeout(time: TimeSchema = duration) {
  return time("How long a TLS handshake may take.", {
    minimumDuration: "100ms",
    default: "15s",
  });
}
