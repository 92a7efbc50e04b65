import type { FetchedResponse, FetchRequest } from "../../http/upstream/fetch-request.ts";
import { responseTo } from "../trial-server.ts";

/** Replaces http/upstream/node/request-url.ts: the trial responds. */
export function requestUrl({ method, url, headers, body }: FetchRequest): Promise<FetchedResponse> {
  const { origin, pathname, search } = new URL(url);
  const text = body?.toString("utf8") ?? "";
  const call = { server: origin, method, path: `${pathname}${search}`, headers, body: text };
  const response = responseTo(call, undefined);
  return Promise.resolve({
    status: response.status,
    headers: Object.entries(response.headers).flat(),
    body: Buffer.from(response.body),
  });
}
