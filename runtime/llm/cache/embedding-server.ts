import { isUtf8 } from "node:buffer";
import type { Exchange } from "../../http/exchange.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { MiB } from "../../process/units.ts";
import { Callout } from "../../telemetry/callout.ts";
import { type UnitVector, unitVector } from "./vector-index.ts";

/** A server with OpenAI's API for embeddings. */
export interface EmbeddingServer {
  readonly server: Upstream;
  /** Path of the API below that of the server. */
  readonly path: string;
  readonly model: string;
  /** Milliseconds. */
  readonly deadline: number;
}

/** Maximum bytes of a response: 8,192 numbers, with room. */
const MAX_RESPONSE = MiB;

/** Maximum length of a vector. */
const MAX_NUMBERS = 8192;

/** Returns the meaning of a text as a vector; `undefined` if the server has no valid response, which is counted and logged. */
export async function embed(
  exchange: Exchange,
  text: string,
  { server, path, model, deadline }: EmbeddingServer,
): Promise<UnitVector | undefined> {
  const callout = new Callout(exchange, "responseCache", server.name, "POST");
  callout.cancelWith(exchange.onAbort.bind(exchange));
  const request = {
    method: "POST",
    url: `${server.origin}${server.basePath}${path}`,
    headers: ["content-type", "application/json", "accept", "application/json"],
    body: Buffer.from(JSON.stringify({ model, input: text, encoding_format: "float" })),
    server,
    span: callout.span,
  };
  const limits = { maxBytes: MAX_RESPONSE, deadline, onAbort: callout.onAbort.bind(callout) };
  try {
    const { status, body } = await fetchResponse(request, limits);
    const vector = status === 200 && isUtf8(body) ? readVector(body.toString("utf8")) : undefined;
    callout.end(
      vector === undefined ? "failed" : "ok",
      vector === undefined ? "no_vector" : undefined,
    );
    return vector;
  } catch {
    callout.end("failed", "no_response");
    return undefined;
  }
}

function readVector(text: string): UnitVector | undefined {
  const value: unknown = JSON.parse(text);
  const [first]: readonly unknown[] =
    isJsonObject(value) && Array.isArray(value.data) ? value.data : [];
  const numbers = isJsonObject(first) ? first.embedding : undefined;
  if (!Array.isArray(numbers) || numbers.length > MAX_NUMBERS) return undefined;
  return numbers.every((each) => typeof each === "number") ? unitVector(numbers) : undefined;
}
