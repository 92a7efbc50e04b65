import { requestUrl } from "./node/request-url.ts";
import type { Upstream } from "./upstream.ts";

/** A request that the gateway makes for itself. */
export interface FetchRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Flat list, without Host. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
  /** The server of the URL, when it is reached in a way of its own. */
  readonly server?: Upstream | undefined;
}

/** When a fetch is given up. */
export interface FetchLimits {
  /** Bytes of the response's body. */
  readonly maxBytes: number;
  /** Milliseconds from the first byte sent to the last byte read. */
  readonly deadline: number;
  /** A response with another status is an error; absent: none is. */
  readonly expectedStatus?: number;
  /** Registers who gives up before the deadline. */
  readonly onAbort?: (abort: () => void) => void;
}

/** The whole response to a fetch. */
export interface FetchedResponse {
  readonly status: number;
  readonly body: Buffer;
}

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
  { method, url, headers, body }: FetchRequest,
  { maxBytes, expectedStatus }: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  const { pathname, search } = new URL(url);
  const head = ["host", server.authority, ...headers];
  const call = { method, path: `${pathname}${search}`, headers: head, body: body ?? null };
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let status = 0;
    let length = 0;
    const request = server.send(call, {
      onHead: (received) => {
        status = received;
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
      onEnd: () => resolve({ status, body: Buffer.concat(pieces) }),
      onError: ({ detail }) => reject(new Error(detail)),
    });
    const giveUp = (reason: unknown): void => {
      request.abort();
      reject(reason);
    };
    signal.addEventListener("abort", () => giveUp(signal.reason), { once: true });
  });
}
