import { request } from "undici";
import type { FetchedResponse, FetchLimits, FetchRequest } from "../fetch-request.ts";

/** Fetches from the server that the URL names, on a connection that is not kept. Throws as `fetchResponse` does. */
export async function requestUrl(
  { method, url, headers, body }: FetchRequest,
  { maxBytes, expectedStatus }: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  const response = await request(url, {
    method,
    headers: [...headers],
    body: body ?? null,
    signal,
    reset: true,
  });
  const status = response.statusCode;
  if (expectedStatus !== undefined && status !== expectedStatus) {
    await response.body.dump();
    throw new Error(`status ${status}`);
  }
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response.body) {
    length += piece.length;
    if (length > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  const fields = Object.entries(response.headers).flatMap(([name, value = []]) =>
    [value].flat().flatMap((each) => [name, each]),
  );
  return { status, headers: fields, body: Buffer.concat(pieces) };
}
