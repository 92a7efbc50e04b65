import { type Response, send } from "./send.ts";

/** GET with a bearer token, or without. */
export function callWith(url: string, token: string | undefined): Promise<Response> {
  return call(url, token === undefined ? {} : { authorization: `Bearer ${token}` });
}

/** GET with these headers. */
export function call(url: string, headers: Record<string, string>): Promise<Response> {
  return send(url, "GET", headers);
}
