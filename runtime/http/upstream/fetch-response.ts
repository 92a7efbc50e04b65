import type { FetchedResponse, FetchLimits, FetchRequest } from "./fetch-request.ts";
import { requestUrl } from "./node/request-url.ts";
import { sendInSpan } from "./traced-request.ts";
import type { AbortReason, Upstream, UpstreamRequest } from "./upstream.ts";

/** Fetches within limits, without following redirects, which could lead anywhere. Throws an Error that says what failed. */
export async function fetchResponse(
  request: FetchRequest,
  limits: FetchLimits,
): Promise<FetchedResponse> {
  const { server } = request;
  return server === undefined
    ? fetchFromUrl(request, limits)
    : requestFrom(server, request, limits);
}

async function fetchFromUrl(request: FetchRequest, limits: FetchLimits): Promise<FetchedResponse> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error("timeout")), limits.deadline);
  limits.onAbort?.(() => abort.abort(new Error("aborted")));
  try {
    abort.signal.throwIfAborted();
    return await requestUrl(request, limits, abort.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Fetches over an upstream, without an AbortSignal, which would cost more than everything else. */
function requestFrom(
  server: Upstream,
  { method, url, authority = server.authority, headers, body, span }: FetchRequest,
  { maxBytes, deadline, expectedStatus, onAbort }: FetchLimits,
): Promise<FetchedResponse> {
  const { pathname, search } = new URL(url);
  const sent = ["host", authority, ...headers];
  const call = { method, path: `${pathname}${search}`, headers: sent, body: body ?? null };
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let status = 0;
    let head: readonly string[] = [];
    let length = 0;
    let isOver = false;
    let request: UpstreamRequest | undefined;
    const over = (): void => {
      isOver = true;
      clearTimeout(timer);
    };
    const giveUp = (message: string, reason?: AbortReason): void => {
      if (isOver) return;
      over();
      request?.abort(reason);
      reject(new Error(message));
    };
    const timer = setTimeout(giveUp, deadline, "timeout", "timeout");
    onAbort?.(() => giveUp("aborted"));
    if (isOver) return;
    request = sendInSpan(span, server, call, {
      onHead: (received, fields) => {
        status = received;
        head = fields;
        if (expectedStatus !== undefined && status !== expectedStatus)
          giveUp(`status ${status}`, "discarded");
      },
      onData: (piece) => {
        length += piece.length;
        pieces.push(piece);
        if (length > maxBytes) giveUp(`more than ${maxBytes} bytes`);
        return true;
      },
      onEnd: () => {
        over();
        resolve({ status, headers: head, body: Buffer.concat(pieces) });
      },
      onError: ({ detail }) => {
        over();
        reject(new Error(detail));
      },
    });
  });
}
