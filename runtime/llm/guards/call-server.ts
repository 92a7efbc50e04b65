import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../../cel/variables.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { MiB } from "../../process/units.ts";
import type { GuardInput, GuardServer } from "./server-guard.ts";

/** Request to a guard's server: POST with JSON. */
export interface ServerRequest {
  /** Path below that of the server. */
  readonly path: string;
  /** Headers in addition to those of JSON: a flat list. */
  readonly headers?: readonly string[];
  readonly body: object;
}

/** Maximum bytes of a response, which may contain a whole masked prompt. */
const MAX_RESPONSE = 16 * MiB;

/** Returns the JSON object of a server's response. Throws on failures, timeouts and other statuses than 2xx. */
export async function callServer(
  { server, deadline }: GuardServer,
  { path, headers = [], body }: ServerRequest,
  { callout }: GuardInput,
): Promise<JsonObject> {
  const request = {
    method: "POST",
    url: `${server.origin}${server.basePath}${path}`,
    headers: ["content-type", "application/json", "accept", "application/json", ...headers],
    body: Buffer.from(JSON.stringify(body)),
    server,
    span: callout?.span,
  };
  const limits = {
    ...{ maxBytes: MAX_RESPONSE, deadline },
    ...(callout !== undefined && { onAbort: callout.onAbort.bind(callout) }),
  };
  const response = await fetchResponse(request, limits);
  if (response.status < 200 || response.status > 299) throw new Error(`status ${response.status}`);
  if (!isUtf8(response.body)) throw new Error("the response is not UTF-8");
  const value: unknown = JSON.parse(response.body.toString("utf8"));
  if (!isJsonObject(value)) throw new Error("the response is not a JSON object");
  return value;
}
