import { collect, isBodySource } from "../../http/body/body.ts";
import { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, withoutHeader } from "../../http/headers/header-list.ts";
import type {
  AbortReason,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { WrappedUpstream } from "../../http/upstream/wrapped-upstream.ts";
import { MiB } from "../../process/units.ts";
import { type UserToken, userToken } from "./granted-tokens.ts";
import { Grants, userOf } from "./grants.ts";
import { USER_HEADER } from "./user-header.ts";

/** Maximum bytes of a request, which may be sent again with a renewed token. */
const MAX_BODY = 16 * MiB;

/** A connection of users, as a server uses it. */
export interface UserConnectionUse {
  readonly name: string;
  /** URL of the page where users connect. */
  readonly page: string;
  /** Claim of the caller's token that names the user. */
  readonly claim: string;
}

/** A response of the gateway instead of a server's. */
export interface LocalResponse {
  readonly status: number;
  /** Flat list. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Responses of the gateway instead of a server's. */
export interface UnconnectedServer {
  /** Responds to a user without a connection. */
  respond(call: UpstreamCall, body: string): LocalResponse;
  /** Responds to a connected user; `undefined` if the server gets the request. */
  intercept(call: UpstreamCall, body: string): LocalResponse | undefined;
}

/** A server whose requests carry the tokens that its users have granted. */
export class UserConnection {
  readonly #use: UserConnectionUse;
  readonly #unconnected: UnconnectedServer;
  #grants: Grants | undefined;

  constructor(use: UserConnectionUse, unconnected: UnconnectedServer) {
    this.#use = use;
    this.#unconnected = unconnected;
  }

  /** Returns the user of a request, for `USER_HEADER`; `undefined` if the caller's token does not name one. */
  userOf({ attributes, gateway }: Exchange): string | undefined {
    this.#grants ??= Grants.of(gateway);
    return userOf(attributes.jwt, this.#use.claim);
  }

  /** Wraps the server. */
  connect(server: Upstream): Upstream {
    return new ConnectedUpstream(server, {
      unconnected: this.#unconnected,
      token: async (user, refused) =>
        this.#grants === undefined
          ? { kind: "unavailable", detail: "there is no store for connections" }
          : userToken(this.#grants, user, this.#use.name, refused),
    });
  }
}

/** Settings of a connection of users. */
interface UserConnectionSettings extends UserConnectionUse {
  /** Makes the responses to users without a connection. */
  readonly unconnected: (use: UserConnectionUse) => UnconnectedServer;
}

/** Opens a connection of users. */
export function userConnection({ unconnected, ...use }: UserConnectionSettings): UserConnection {
  return new UserConnection(use, unconnected(use));
}

/** How the wrapped server gets tokens. */
interface ConnectedSettings {
  readonly unconnected: UnconnectedServer;
  readonly token: (user: string, refused?: string) => Promise<UserToken>;
}

class ConnectedUpstream extends WrappedUpstream {
  readonly #settings: ConnectedSettings;

  constructor(server: Upstream, settings: ConnectedSettings) {
    super(server);
    this.#settings = settings;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const request = new ConnectedRequest(this.server, this.#settings, handler);
    void request.start(call);
    return request;
  }
}

/** A request with its user's token. If the server refuses the token, the request is sent once more with a renewed one. */
class ConnectedRequest implements UpstreamRequest, UpstreamHandler {
  readonly #server: Upstream;
  readonly #settings: ConnectedSettings;
  readonly #handler: UpstreamHandler;
  #call: UpstreamCall | undefined;
  #user = "";
  #body = "";
  #token = "";
  #request: UpstreamRequest | undefined;
  #isRepeated = false;
  #isAborted = false;

  constructor(server: Upstream, settings: ConnectedSettings, handler: UpstreamHandler) {
    this.#server = server;
    this.#settings = settings;
    this.#handler = handler;
  }

  async start(given: UpstreamCall): Promise<void> {
    try {
      this.#user = headerValue(given.headers, USER_HEADER) ?? "";
      const body = await wholeBody(given.body);
      this.#body = body === null ? "" : Buffer.from(body).toString();
      this.#call = {
        ...given,
        body,
        headers: withoutHeader(withoutHeader(given.headers, USER_HEADER), "authorization"),
      };
      await this.#send(this.#call, undefined);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.onError({ kind: "protocol", isOfRequest: true, detail });
    }
  }

  abort(reason?: AbortReason): void {
    this.#isAborted = true;
    this.#request?.abort(reason);
  }

  resume(): void {
    this.#request?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    if (this.#isAborted) return;
    const call = this.#call;
    if (status === 401 && call !== undefined) {
      this.#request?.abort("discarded");
      this.#request = undefined;
      const isLast = this.#isRepeated;
      this.#isRepeated = true;
      if (isLast) this.#respond(this.#settings.unconnected.respond(call, this.#body));
      else void this.#send(call, this.#token);
      return;
    }
    // A challenge would ask the client for another token of its own.
    this.#handler.onHead(status, withoutHeader(headers, "www-authenticate"));
  }

  onData(chunk: Buffer): boolean {
    return this.#isAborted || this.#handler.onData(chunk);
  }

  onEnd(trailers?: readonly string[]): void {
    if (!this.#isAborted) this.#handler.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    if (!this.#isAborted) this.#handler.onError(failure);
  }

  async #send(call: UpstreamCall, refused: string | undefined): Promise<void> {
    const { unconnected, token: tokenOf } = this.#settings;
    const token: UserToken =
      this.#user === "" ? { kind: "absent" } : await tokenOf(this.#user, refused);
    if (this.#isAborted) return;
    if (token.kind === "unavailable") {
      this.onError({ kind: "connect", detail: token.detail });
      return;
    }
    const local =
      token.kind === "absent"
        ? unconnected.respond(call, this.#body)
        : unconnected.intercept(call, this.#body);
    if (local !== undefined) {
      this.#respond(local);
      return;
    }
    this.#token = token.kind === "token" ? token.token : "";
    const headers = [...call.headers, "authorization", `Bearer ${this.#token}`];
    this.#request = this.#server.send({ ...call, headers }, this);
  }

  #respond({ status, headers, body }: LocalResponse): void {
    if (this.#isAborted) return;
    this.#handler.onHead(status, headers);
    if (body !== "") this.#handler.onData(Buffer.from(body));
    this.#handler.onEnd();
  }
}

function wholeBody(body: UpstreamCall["body"]): Promise<string | Uint8Array | null> {
  if (!isBodySource(body)) return Promise.resolve(body);
  return new Promise((resolve, reject) => {
    collect(body, MAX_BODY, new CountedBuffer(undefined), (bytes) => {
      if (typeof bytes === "string") reject(new Error(`the request body is ${bytes}`));
      else resolve(bytes);
    });
  });
}
