import { MiB } from "../../process/units.ts";
import { collect } from "../body/body.ts";
import { CountedBuffer } from "../body/counted-buffer.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamCredential,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "./upstream.ts";

/** The most bytes of a body that is signed: it is held until its last byte is known. */
const maxSigned = 16 * MiB;

/** An upstream whose requests show the gateway's credentials: they are put on last, and may have to be fetched first. */
export class CredentialedUpstream implements Upstream {
  readonly #server: Upstream;
  readonly #credential: UpstreamCredential;
  readonly #signsBody: boolean;

  /** `signsBody`: the credential depends on the body, which is read before it is sent. */
  constructor(server: Upstream, credential: UpstreamCredential, signsBody: boolean) {
    this.#server = server;
    this.#credential = credential;
    this.#signsBody = signsBody;
  }

  get name(): string {
    return this.#server.name;
  }

  get origin(): string {
    return this.#server.origin;
  }

  get authority(): string {
    return this.#server.authority;
  }

  get keepsHost(): boolean {
    return this.#server.keepsHost;
  }

  get path(): string {
    return this.#server.path;
  }

  get basePath(): string {
    return this.#server.basePath;
  }

  get takesTrailers(): boolean {
    return this.#server.takesTrailers;
  }

  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return new PreparedRequest(this.#prepared(call), handler, (complete) =>
      this.#server.send(complete, handler),
    );
  }

  upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    return new PreparedRequest(this.#prepared(call), handler, (complete) =>
      this.#server.upgrade(complete, protocol, handler),
    );
  }

  close(): void {
    this.#server.close();
  }

  async #prepared(call: UpstreamCall): Promise<UpstreamCall> {
    const complete = this.#signsBody ? { ...call, body: await wholeBody(call.body) } : call;
    await this.#credential(complete);
    return complete;
  }
}

/** A request that is sent when it has its credentials, unless it was aborted by then. */
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

  abort(): void {
    this.#isAborted = true;
    this.#request?.abort();
  }

  resume(): void {
    this.#request?.resume();
  }
}

function failure(error: unknown): UpstreamFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: "connect", detail: `no credentials for the request: ${reason}` };
}

function wholeBody(body: UpstreamCall["body"]): Promise<string | Uint8Array | null> {
  if (body === null || typeof body === "string" || !("flow" in body)) return Promise.resolve(body);
  return new Promise((resolve, reject) => {
    collect(body, maxSigned, new CountedBuffer(undefined), (bytes) => {
      if (typeof bytes === "string") reject(new Error(`the request body is ${bytes}`));
      else resolve(bytes);
    });
  });
}
