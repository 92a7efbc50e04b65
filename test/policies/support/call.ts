import { request } from "undici";

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** GET with a bearer token, or without. */
export async function callWith(url: string, token: string | undefined): Promise<Answer> {
  return call(url, token === undefined ? {} : { authorization: `Bearer ${token}` });
}

/** GET with these headers. */
export async function call(url: string, headers: Record<string, string>): Promise<Answer> {
  const answer = await request(url, { headers });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}
