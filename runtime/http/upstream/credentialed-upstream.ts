import { MiB } from "../../process/units.ts";
import { collect, isBodySource } from "../body/body.ts";
import { CountedBuffer } from "../body/counted-buffer.ts";
import type {
  AbortReason,
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamCredential,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "./upstream.ts";
import { WrappedUpstream } from "./wrapped-upstream.ts";

/** Maximum bytes of a signed body, which is buffered until its end. */
const MAX_SIGNED = 16 * MiB;

/** An upstream whose requests carry the gateway's credentials. They are added last, and may have to be fetched first. */
export class CredentialedUpstream extends WrappedUpstream {
  readonly #credential: UpstreamCredential;
  readonly #signsBody: boolean;

  /** `signsBody`: whether the credential depends on the body, which is then read first. */
  constructor(server: Upstream, credential: UpstreamCredential, signsBody: boolean) {
    super(server);
    this.#credential = credential;
    this.#signsBody = signsBody;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return new PreparedRequest(this.#prepared(call), handler, (complete) =>
      this.server.send(complete, handler),
    );
  }

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    return new PreparedRequest(this.#prepared(call), handler, (complete) =>
      this.server.upgrade(complete, protocol, handler),
    );
  }

  async #prepared(call: UpstreamCall): Promise<UpstreamCall> {
    const complete = {
      ...call,
      ...(this.#signsBody && { body: await wholeBody(call.body) }),
    };
    await this.#credential(complete);
    complete.headers.forEach((name, i) => {
      if (i % 2 === 0) complete.trailers?.note(name);
    });
    return complete;
  }
}

/** A request that is sent once it has its credentials, unless it was aborted. */
class PreparedRequest implements UpstreamRequest {
  #request: UpstreamRequest | undefined;
  #isAborted = false;

  constructor(
    prepared: Promise<UpstreamCall>,
    handler: UpstreamHandler,
    send: (call: UpstreamCall) => UpstreamRequest,
  ) {
    prepared.then(
      (call) => {
        if (!this.#isAborted) this.#request = send(call);
      },
      (error: unknown) => {
        if (!this.#isAborted) handler.onError(failure(error));
      },
    );
  }

  abort(reason?: AbortReason): void {
    this.#isAborted = true;
    this.#request?.abort(reason);
  }

  resume(): void {
    this.#request?.resume();
  }
}

function failure(error: unknown): UpstreamFailure {
  if (error instanceof CallRefused) return error.failure;
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: "connect", detail: `no credentials for the request: ${reason}` };
}

function wholeBody(body: UpstreamCall["body"]): Promise<string | Uint8Array | null> {
  if (!isBodySource(body)) return Promise.resolve(body);
  return new Promise((resolve, reject) => {
    collect(body, MAX_SIGNED, new CountedBuffer(undefined), (bytes) => {
      if (typeof bytes === "string") reject(new Error(`the request body is ${bytes}`));
      else resolve(bytes);
    });
  });
}

/** A request that is not sent because of its credential, with the failure for the client. */
export class CallRefused extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure) {
    super(failure.detail);
    this.failure = failure;
  }
}
