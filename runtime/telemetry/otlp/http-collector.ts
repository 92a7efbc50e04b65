import { headerValue } from "../../http/headers/header-list.ts";
import type { FetchedResponse } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { SECOND } from "../../process/units.ts";
import { type Collector, EXPORT_DEADLINE } from "./collector.ts";
import type { ExportResult } from "./export-queue.ts";
import { otlpJson } from "./json-format.ts";
import type { OtlpFormat, OtlpSignal } from "./otlp-format.ts";

/** The OTLP/HTTP destination of one signal. */
export interface HttpCollectorSettings {
  readonly upstream: Upstream;
  /** The path of the signal: `/v1/traces`. */
  readonly path: string;
  /** Further headers: a flat list. */
  readonly headers?: readonly string[];
  /** Encoding of requests and responses; JSON if absent. */
  readonly encoding?: HttpEncoding;
  /** Maximum milliseconds for sending a batch; 10 s if absent. */
  readonly deadline?: number;
}

/** An encoding of OTLP/HTTP. */
export interface HttpEncoding {
  readonly format: OtlpFormat;
  readonly contentType: string;
  /** Reads the response of a collector that took a batch. */
  readonly read: (body: Buffer, signal: OtlpSignal) => ExportResult;
}

/** Maximum number of bytes of a response. */
const MAX_BYTES = 65_536;

/** Exports items over OTLP/HTTP. */
export function httpCollector({
  upstream,
  path,
  headers = [],
  encoding = jsonEncoding(),
  deadline = EXPORT_DEADLINE,
}: HttpCollectorSettings): Collector {
  const url = `${upstream.origin}${upstream.basePath}${path}`;
  const head = ["content-type", encoding.contentType, ...headers];
  return {
    format: encoding.format,
    exporter: (signal) => ({
      name: upstream.name,
      send: async (body) => {
        const request = { method: "POST", url, headers: head, body, server: upstream } as const;
        try {
          const response = await fetchResponse(request, { maxBytes: MAX_BYTES, deadline });
          return resultOf(response, signal, encoding);
        } catch (error) {
          const detail = error instanceof Error ? error.message : String(error);
          return { kind: "again", after: undefined, detail };
        }
      },
    }),
  };
}

/** Returns the JSON encoding, the default of OTLP/HTTP here. */
export function jsonEncoding(): HttpEncoding {
  return {
    format: otlpJson(),
    contentType: "application/json",
    read: (body, { rejected }) => partOf(body.toString("utf8"), rejected),
  };
}

/** The statuses after which a batch may be retried (OTLP/HTTP, Failures); any other one would recur. */
const PASSING: readonly number[] = [429, 502, 503, 504];

function resultOf(
  { status, headers, body }: FetchedResponse,
  signal: OtlpSignal,
  { read }: HttpEncoding,
): ExportResult {
  if (status >= 200 && status < 300) return read(body, signal);
  const detail = `status ${status}`;
  if (!PASSING.includes(status)) return { kind: "refused", detail };
  const seconds = Number(headerValue(headers, "retry-after"));
  return { kind: "again", after: seconds > 0 ? seconds * SECOND : undefined, detail };
}

/** Reads how many items a collector rejected (`partialSuccess`); a response that is not JSON does not tell. */
function partOf(text: string, field: string): ExportResult {
  let response: unknown;
  try {
    response = JSON.parse(text);
  } catch {}
  const part = member(response, "partialSuccess");
  const count = Number(member(part, field) ?? 0);
  const message = member(part, "errorMessage");
  const detail = typeof message === "string" ? message : "some items were rejected";
  return { kind: "taken", rejected: Math.max(count, 0), detail };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
