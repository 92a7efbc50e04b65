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
  /** Price of a million tokens in US dollars; absent if it is unknown. */
  readonly price?: number;
}

/** A text as a vector. */
export interface Embedding {
  readonly vector: UnitVector;
  /** Cost in US dollars; `undefined` if the price or the number of tokens is unknown. */
  readonly cost: number | undefined;
}

/** Maximum bytes of a response: 8,192 numbers, with room. */
const MAX_RESPONSE = MiB;

/** Maximum length of a vector. */
const MAX_NUMBERS = 8192;

/** Returns the meaning of a text as a vector; `undefined` if the server has no valid response, which is counted and logged. */
export async function embed(
  exchange: Exchange,
  text: string,
  { server, path, model, deadline, price }: EmbeddingServer,
): Promise<Embedding | undefined> {
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
    const read = status === 200 && isUtf8(body) ? readVector(body.toString("utf8")) : undefined;
    callout.end(read === undefined ? "failed" : "ok", read === undefined ? "no_vector" : undefined);
    const isPriced = price !== undefined && read?.tokens !== undefined;
    return (
      read && { vector: read.vector, cost: isPriced ? (read.tokens * price) / 1e6 : undefined }
    );
  } catch {
    callout.end("failed", "no_response");
    return undefined;
  }
}

function readVector(
  text: string,
): { readonly vector: UnitVector; readonly tokens: number | undefined } | undefined {
  const value: unknown = JSON.parse(text);
  const [first]: readonly unknown[] =
    isJsonObject(value) && Array.isArray(value.data) ? value.data : [];
  const numbers = isJsonObject(first) ? first.embedding : undefined;
  if (!Array.isArray(numbers) || numbers.length > MAX_NUMBERS) return undefined;
  const vector = numbers.every((each) => typeof each === "number")
    ? unitVector(numbers)
    : undefined;
  const usage = isJsonObject(value) && isJsonObject(value.usage) ? value.usage : {};
  const { prompt_tokens: tokens } = usage;
  const isCount = typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0;
  return vector && { vector, tokens: isCount ? tokens : undefined };
}
