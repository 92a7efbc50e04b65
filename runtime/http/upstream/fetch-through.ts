import type { Upstream } from "./upstream.ts";

/** Bounds of a response. */
export interface FetchBounds {
  readonly maxBytes: number;
  /** Gives up; its reason is what is thrown. */
  readonly signal: AbortSignal;
}

/** The body that a GET of a URL's path brings, from an upstream that is that URL's server. Throws unless it is a 200. */
export function fetchThrough(
  server: Upstream,
  url: string,
  { maxBytes, signal }: FetchBounds,
): Promise<Buffer> {
  const { pathname, search } = new URL(url);
  const headers = ["host", server.authority, "accept", "application/json"];
  const call = { method: "GET", path: `${pathname}${search}`, headers, body: null };
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const request = server.send(call, {
      onHead: (status) => {
        if (status !== 200) giveUp(new Error(`status ${status}`));
      },
      onData: (piece) => {
        length += piece.length;
        pieces.push(piece);
        if (length > maxBytes) giveUp(new Error(`more than ${maxBytes} bytes`));
        return true;
      },
      onEnd: () => resolve(Buffer.concat(pieces)),
      onError: ({ detail }) => reject(new Error(detail)),
    });
    const giveUp = (reason: unknown): void => {
      request.abort();
      reject(reason);
    };
    signal.addEventListener("abort", () => giveUp(signal.reason), { once: true });
  });
}
