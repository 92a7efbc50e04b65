import { request } from "undici";

/** A response, read to its end. */
export interface Response {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** GET with a bearer token, or without. */
export async function callWith(url: string, token: string | undefined): Promise<Response> {
  return call(url, token === undefined ? {} : { authorization: `Bearer ${token}` });
}

/** GET with these headers. */
export async function call(url: string, headers: Record<string, string>): Promise<Response> {
  const response = await request(url, { headers });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await response.body.text(),
  };
}
