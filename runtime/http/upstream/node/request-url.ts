import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { FetchedResponse, FetchLimits, FetchRequest } from "../fetch-request.ts";

/** Fetches from the server of the URL, on a connection that is closed afterwards. Throws as `fetchResponse` does. */
export async function requestUrl(
  { method, url, headers, body }: FetchRequest,
  { maxBytes, expectedStatus }: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const sent = send(url, { method, headers: withHost(headers, url), agent: false, signal });
    sent.on("response", resolve);
    // Events after the head are emitted by the response.
    sent.on("error", reject);
    sent.end(body);
  });
  const status = response.statusCode ?? 0;
  if (expectedStatus !== undefined && status !== expectedStatus) {
    response.destroy();
    throw new Error(`status ${status}`);
  }
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response) {
    length += piece.length;
    if (length > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return { status, headers: response.rawHeaders, body: Buffer.concat(pieces) };
}

/** Adds Host, because Node sends a flat list as it is. */
function withHost(headers: readonly string[], url: string): string[] {
  return ["host", new URL(url).host, ...headers];
}
