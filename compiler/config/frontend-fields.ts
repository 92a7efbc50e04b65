import { keyExchangeSchemas } from "../schema/key-exchange.ts";
import { byteCount, choice, duration, integer, list, type Schema, text } from "../schema/schema.ts";
import { bothForms } from "../schema/two-forms.ts";
import { CIPHER_SUITES } from "./frontend.ts";

/** Builder of a duration field in files or manifests. */
type TimeSchema = (
  description: string,
  rest: { readonly minimumDuration: string; readonly default?: string },
) => Schema<string>;

/** Larger values are limited to the maximum (RFC 9113 6.9.1), smaller ones to the minimum. */
const ANY_WINDOW = [1, Number.MAX_SAFE_INTEGER] as const;

/** Returns the fields for HTTP with clients, with the same names, limits and defaults in files and manifests. */
export function frontendHttpFields(time: TimeSchema = duration) {
  return {
    maxBufferSize: byteCount(
      "Maximum size in bytes of a body that policies or MCP messages need as a whole; never more than " +
        "`config.maxBufferedBytes`. Requests to models may have 32 MiB by default.",
      1,
      4_294_967_295,
      { default: 2_097_152 },
    ),
    http1MaxHeaders: integer(
      "Maximum number of header fields of a request; a request with more is answered with 431.",
      1,
      4096,
      {
        default: 100,
      },
    ),
    http1IdleTimeout: time(
      "How long a connection stays open without a request, or while its client reads nothing of a response.",
      {
        minimumDuration: "1s",
        default: "10m",
      },
    ),
    http2WindowSize: byteCount(
      "Bytes that a client may send on a stream before it must wait.",
      ...ANY_WINDOW,
      { default: 262_144 },
    ),
    http2ConnectionWindowSize: byteCount(
      "Bytes that a client may send on all streams of a connection before it must wait; at least 65535.",
      ...ANY_WINDOW,
      { default: 1_048_576 },
    ),
    http2FrameSize: byteCount("Maximum size of an HTTP/2 frame.", 16_384, 1_677_215, {
      default: 16_384,
    }),
    http2KeepaliveInterval: time("Time between two HTTP/2 PINGs; no PINGs are sent by default.", {
      minimumDuration: "1s",
    }),
    http2KeepaliveTimeout: time(
      "How long a client may take to answer a PING before its connection is closed.",
      { minimumDuration: "100ms", default: "20s" },
    ),
  };
}

/** Returns the maximum age of a connection, for files and manifests. */
export function maxConnectionDuration(time: TimeSchema = duration) {
  return time(
    "Maximum age of a connection; it is closed after the current response. Tunnels stay open.",
    { minimumDuration: "1s" },
  );
}

/** Returns the case of header names, with the words of a form. */
export function headerCase<const Preserve extends string, const Lowercase extends string>(
  preserve: Preserve,
  lowercase: Lowercase,
) {
  return choice(
    "Case of the names of headers in HTTP/1.1 responses: as received, or lower case. Requests are forwarded with names as received, and HTTP/2 has lower-case names only.",
    [preserve, lowercase],
    { default: preserve },
  );
}

/** Description of labels of metrics, in files and manifests. */
export const METRIC_LABELS =
  "Labels of the metrics `gwc_labelled_requests_total`, `gwc_labelled_tokens_total` and `gwc_labelled_cost_total`, by the values of expressions after a request. A value is `unknown` if its expression fails. Beyond 1000 combinations of values, all labels are `other`.";

/** Returns the maximum size of an HTTP/2 header list, for files and manifests. */
export function http2HeaderSize() {
  return byteCount(
    "Maximum size in bytes of an HTTP/2 header list, plus 32 for each field; a longer one resets its stream.",
    1024,
    1_048_576,
    { default: 65_536 },
  );
}

/** Returns the maximum duration of a TLS handshake, for files and manifests. */
export function handshakeTimeout(time: TimeSchema = duration) {
  return time("Maximum duration of a TLS handshake.", {
    minimumDuration: "100ms",
    default: "15s",
  });
}

/** Schemas of the protocols that clients can negotiate. */
export const alpnProtocols = bothForms(
  list(text("A protocol.", { maxLength: 64 }), {
    minItems: 1,
    maxItems: 16,
    description:
      "Protocols that clients can negotiate (ALPN), by preference: `h2` and `http/1.1` for HTTPS, any others (`mqtt`, `postgresql`) for terminated TLS connections that are forwarded as TCP.",
  }),
  { file: { uniqueItems: true } },
);

/** Schemas of the cipher suites that clients can negotiate. */
export const cipherSuites = bothForms(
  list(choice("A cipher suite.", CIPHER_SUITES), {
    description: "Cipher suites that clients can negotiate, by preference.",
  }),
  { file: { minItems: 1, maxItems: CIPHER_SUITES.length, uniqueItems: true } },
);

/** Schemas of the groups of the key exchange that clients can negotiate. */
export const keyExchangeGroups = keyExchangeSchemas("clients can negotiate");

/** Description of the condition of the access log. */
export const LOG_FILTER = "CEL expression that selects the requests that are logged.";

/** Description of the server of the access log's records. */
export const RECORD_SERVER = "OTLP server that receives a record of each request.";

/** Description of the condition of the access log's records. */
export const RECORD_FILTER =
  "CEL expression that selects the requests of which a record is exported, whether they are logged or not. By default, those that are logged.";

/** Description of the fields of records. */
export const RECORD_FIELDS =
  "Changes to the default fields of records, instead of those of lines. By default, records have the fields of lines.";

/** Description of the filter of spans. */
export const SPAN_FILTER =
  "CEL expression that selects the requests whose spans are exported, with those of their calls. It is evaluated at the end of a request and can read the response.";

/** Description of `tracing`. */
export const TRACES = "Traces of requests (OpenTelemetry), and their collector.";

/** Descriptions of the sampling rates of traces. */
export const SAMPLINGS = {
  randomSampling:
    "Fraction of requests without a trace that are traced: a number (`0.1`), true, or a CEL expression over the request. " +
    "None by default.",
  clientSampling:
    "Fraction of requests with a recorded trace that are traced here too. All by default.",
};
