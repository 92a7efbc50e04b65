import { request } from "undici";

/** A response, read to its end. */
export interface Response {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** A request with a method, headers and a body. */
export async function send(
  url: string,
  method: string,
  headers: Record<string, string | string[]> = {},
  body?: string | Buffer,
): Promise<Response> {
  const response = await request(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await response.body.text(),
  };
}
