import type { FetchedResponse, FetchLimits, FetchRequest } from "./fetch-request.ts";
import { requestUrl } from "./node/request-url.ts";
import { sendInSpan } from "./traced-request.ts";
import type { Upstream } from "./upstream.ts";

/** Fetches within limits, without following redirects, which could lead anywhere. Throws an Error that says what failed. */
export async function fetchResponse(
  request: FetchRequest,
  limits: FetchLimits,
): Promise<FetchedResponse> {
  const { server } = request;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error("timeout")), limits.deadline);
  limits.onAbort?.(() => abort.abort(new Error("aborted")));
  try {
    abort.signal.throwIfAborted();
    return server === undefined
      ? await requestUrl(request, limits, abort.signal)
      : await requestFrom(server, request, limits, abort.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The same over an upstream that is the URL's server. */
function requestFrom(
  server: Upstream,
  { method, url, authority = server.authority, headers, body, span }: FetchRequest,
  { maxBytes, expectedStatus }: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  const { pathname, search } = new URL(url);
  const sent = ["host", authority, ...headers];
  const call = { method, path: `${pathname}${search}`, headers: sent, body: body ?? null };
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let status = 0;
    let head: readonly string[] = [];
    let length = 0;
    const request = sendInSpan(span, server, call, {
      onHead: (received, fields) => {
        status = received;
        head = fields;
        if (expectedStatus !== undefined && status !== expectedStatus) {
          giveUp(new Error(`status ${status}`));
        }
      },
      onData: (piece) => {
        length += piece.length;
        pieces.push(piece);
        if (length > maxBytes) giveUp(new Error(`more than ${maxBytes} bytes`));
        return true;
      },
      onEnd: () => resolve({ status, headers: head, body: Buffer.concat(pieces) }),
      onError: ({ detail }) => reject(new Error(detail)),
    });
    const giveUp = (reason: unknown): void => {
      request.abort();
      reject(reason);
    };
    signal.addEventListener("abort", () => giveUp(signal.reason), { once: true });
  });
}
