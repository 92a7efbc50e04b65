import type { UpstreamFailure, UpstreamHandler } from "../../http/upstream/upstream.ts";
import { readMessageBytes } from "../protocol/message.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode } from "../protocol/rpc-response.ts";

/** Maximum number of bytes of a refusal that is parsed. */
const MAX_BYTES = 65_536;

/**
 * Handles the response to a client's `initialize`. A target without sessions refuses it with a specific error (400,
 * -32022); the client is then served without a session at the target. Other responses are forwarded unchanged.
 */
export class RefusedSessions implements UpstreamHandler {
  readonly #next: UpstreamHandler;
  readonly #onVerdict: (hasSessions: boolean) => void;
  #head: readonly string[] | undefined;
  #held: Buffer[] = [];
  #size = 0;

  /** `onVerdict`: called with false instead of all callbacks of `next`. */
  constructor(next: UpstreamHandler, onVerdict: (hasSessions: boolean) => void) {
    this.#next = next;
    this.#onVerdict = onVerdict;
  }

  onHead(status: number, headers: readonly string[]): void {
    if (status === 400) {
      this.#head = headers;
      return;
    }
    if (status >= 200 && status <= 299) this.#onVerdict(true);
    this.#next.onHead(status, headers);
  }

  onData(chunk: Buffer): boolean {
    if (this.#head === undefined) return this.#next.onData(chunk);
    this.#held.push(chunk);
    this.#size += chunk.length;
    return this.#size <= MAX_BYTES || this.#release();
  }

  onEnd(trailers?: readonly string[]): void {
    if (this.#head !== undefined) {
      const message = readMessageBytes(Buffer.concat(this.#held));
      const code = message.kind === "response" ? errorCodeOf(message) : undefined;
      if (code === rpcCode.unsupportedVersion) {
        this.#onVerdict(false);
        return;
      }
      this.#release();
    }
    this.#next.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    this.#next.onError(failure);
  }

  /** Forwards an ordinary refusal. */
  #release(): boolean {
    const headers = this.#head ?? [];
    this.#head = undefined;
    this.#next.onHead(400, headers);
    return this.#next.onData(Buffer.concat(this.#held));
  }
}
