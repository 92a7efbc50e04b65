import { request } from "undici";
import type { Answer } from "./call.ts";

/** A request with a method, headers and a body. */
export async function send(
  url: string,
  method: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
): Promise<Answer> {
  const answer = await request(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}
