import { headerValue } from "../../http/headers/header-list.ts";
import type { FetchedResponse } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { SECOND } from "../../process/units.ts";
import { type Collector, EXPORT_DEADLINE } from "./collector.ts";
import type { ExportResult } from "./export-queue.ts";
import { otlpJson } from "./json-format.ts";

/** The OTLP/HTTP destination of one signal. */
export interface HttpCollectorSettings {
  readonly upstream: Upstream;
  /** The path of the signal: `/v1/traces`. */
  readonly path: string;
  /** Further headers: a flat list. */
  readonly headers?: readonly string[];
}

/** Maximum number of bytes of a response. */
const MAX_BYTES = 65_536;

/** Exports items as JSON (OTLP/HTTP). */
export function httpCollector({ upstream, path, headers = [] }: HttpCollectorSettings): Collector {
  const url = `${upstream.origin}${upstream.basePath}${path}`;
  const head = ["content-type", "application/json", ...headers];
  return {
    format: otlpJson(),
    exporter: ({ rejected }) => ({
      name: upstream.name,
      send: async (body) => {
        const request = { method: "POST", url, headers: head, body, server: upstream } as const;
        try {
          const response = await fetchResponse(request, {
            maxBytes: MAX_BYTES,
            deadline: EXPORT_DEADLINE,
          });
          return resultOf(response, rejected);
        } catch (error) {
          const detail = error instanceof Error ? error.message : String(error);
          return { kind: "again", after: undefined, detail };
        }
      },
    }),
  };
}

/** The statuses after which a batch may be retried (OTLP/HTTP, Failures); any other one would recur. */
const PASSING: readonly number[] = [429, 502, 503, 504];

function resultOf({ status, headers, body }: FetchedResponse, rejected: string): ExportResult {
  if (status >= 200 && status < 300) return partOf(body.toString("utf8"), rejected);
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
