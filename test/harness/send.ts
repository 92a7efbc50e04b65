import { request } from "undici";
import type { Response } from "./call.ts";

/** A request with a method, headers and a body. */
export async function send(
  url: string,
  method: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
): Promise<Response> {
  const response = await request(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await response.body.text(),
  };
}
