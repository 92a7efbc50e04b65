import { type BodySource, collect, isBodySource } from "../../http/body/body.ts";
import { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, withoutHeader } from "../../http/headers/header-list.ts";
import type {
  AbortReason,
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamTunnel,
} from "../../http/upstream/upstream.ts";
import { WrappedUpstream } from "../../http/upstream/wrapped-upstream.ts";
import { KiB, MiB } from "../../process/units.ts";
import { type UserToken, userToken } from "./granted-tokens.ts";
import { Grants, userOf } from "./grants.ts";
import { USER_HEADER } from "./user-header.ts";

/** Maximum bytes of a message of MCP, or of a call of an API's tool. */
const MAX_BODY = 16 * MiB;
/** Maximum bytes of a forwarded body that is kept, so that the request can be sent again with a renewed token. */
const MAX_FORWARDED_BODY = 64 * KiB;

/** A connection of users, as a server uses it. */
export interface UserConnectionUse {
  readonly name: string;
  /** URL of the page where users connect. */
  readonly page: string;
  /** Claim of the caller's token that names the user. */
  readonly claim: string;
  /** Namespace of the manifest that uses it; absent in files. */
  readonly owner?: string;
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
    this.#grants ??= Grants.of(gateway, this.#use.owner);
    return userOf(attributes.jwt, this.#use.claim);
  }

  /** Wraps a server whose calls have their user in `USER_HEADER`. */
  connect(server: Upstream): Upstream {
    return new ConnectedUpstream(server, this.#settings(MAX_BODY, takeUser));
  }

  /** Wraps a server of forwarded requests. Calls of the gateway itself, such as health checks, get no token. */
  connectForwarded(server: Upstream): Upstream {
    const settings = this.#settings(MAX_FORWARDED_BODY, (call) => ({
      user: call.exchange && this.userOf(call.exchange),
      call,
    }));
    return new ConnectedUpstream(server, settings);
  }

  #settings(maxBody: number, take: ConnectedSettings["take"]): ConnectedSettings {
    return {
      unconnected: this.#unconnected,
      maxBody,
      take,
      token: async (user, refused) =>
        this.#grants === undefined
          ? { kind: "unavailable", detail: "there is no store for connections" }
          : userToken(this.#grants, user, this.#use.name, refused),
    };
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

/** Opens a connection of users of forwarded requests: wraps the server (`UpstreamSettings.users`). */
export function forwardedConnection(
  settings: UserConnectionSettings,
): (server: Upstream) => Upstream {
  const connection = userConnection(settings);
  return (server) => connection.connectForwarded(server);
}

/** How the wrapped server gets tokens. */
interface ConnectedSettings {
  readonly unconnected: UnconnectedServer;
  /** Maximum bytes of a body that is sent again with a renewed token. */
  readonly maxBody: number;
  /** Returns the user of a call, and the call as the server gets it. */
  readonly take: (call: UpstreamCall) => {
    readonly user: string | undefined;
    readonly call: UpstreamCall;
  };
  readonly token: (user: string, refused?: string) => Promise<UserToken>;
}

function takeUser(call: UpstreamCall) {
  const user = headerValue(call.headers, USER_HEADER);
  return { user, call: { ...call, headers: withoutHeader(call.headers, USER_HEADER) } };
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

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    const request = new ConnectedUpgrade(this.server, this.#settings, handler, protocol);
    void request.start(call);
    return request;
  }
}

/**
 * A request with its user's token. If the server refuses the token, the token is renewed and the request sent once more, unless
 * its body is too large to be kept.
 */
class ConnectedRequest implements UpstreamRequest, UpstreamHandler {
  protected readonly server: Upstream;
  readonly #settings: ConnectedSettings;
  readonly #handler: UpstreamHandler;
  #call: UpstreamCall | undefined;
  #user: string | undefined;
  #body = "";
  #token = "";
  #request: UpstreamRequest | undefined;
  #isRepeated = false;
  #isAborted = false;

  constructor(server: Upstream, settings: ConnectedSettings, handler: UpstreamHandler) {
    this.server = server;
    this.#settings = settings;
    this.#handler = handler;
  }

  async start(given: UpstreamCall): Promise<void> {
    try {
      const { user, call } = this.#settings.take(given);
      this.#user = user;
      const body = await this.#bodyOf(call);
      this.#body = body === null || isBodySource(body) ? "" : Buffer.from(body).toString();
      this.#call = { ...call, body, headers: withoutHeader(call.headers, "authorization") };
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
    if (status === 401 && call !== undefined && this.#token !== "") {
      this.#request?.abort("discarded");
      this.#request = undefined;
      const isLast = this.#isRepeated;
      this.#isRepeated = true;
      if (isLast) this.#respond(this.#settings.unconnected.respond(call, this.#body));
      else void this.#renew(call);
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

  /** Sends the complete call. */
  protected open(call: UpstreamCall): UpstreamRequest {
    return this.server.send(call, this);
  }

  /** Returns the body: whole if it may be sent again, otherwise as it arrives. */
  async #bodyOf({ body, exchange }: UpstreamCall): Promise<UpstreamCall["body"]> {
    if (!isBodySource(body)) return body;
    const { maxBody } = this.#settings;
    if (exchange !== undefined && (body.length ?? maxBody + 1) > maxBody) return body;
    return wholeBody(body, maxBody);
  }

  async #renew(call: UpstreamCall): Promise<void> {
    if (!isBodySource(call.body)) {
      await this.#send(call, this.#token);
      return;
    }
    const { unconnected, token: tokenOf } = this.#settings;
    const token = await tokenOf(this.#user ?? "", this.#token);
    this.#respond(token.kind === "token" ? sendAgain : unconnected.respond(call, this.#body));
  }

  async #send(call: UpstreamCall, refused: string | undefined): Promise<void> {
    const { unconnected, token: tokenOf } = this.#settings;
    const token: UserToken =
      this.#user === undefined ? { kind: "absent" } : await tokenOf(this.#user, refused);
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
    this.#request = this.open({ ...call, headers });
  }

  #respond({ status, headers, body }: LocalResponse): void {
    if (this.#isAborted) return;
    this.#handler.onHead(status, headers);
    if (body !== "") this.#handler.onData(Buffer.from(body));
    this.#handler.onEnd();
  }
}

/** A request for another protocol with its user's token. */
class ConnectedUpgrade extends ConnectedRequest implements UpgradeHandler {
  readonly #upgraded: UpgradeHandler;
  readonly #protocol: string;

  constructor(
    server: Upstream,
    settings: ConnectedSettings,
    handler: UpgradeHandler,
    protocol: string,
  ) {
    super(server, settings, handler);
    this.#upgraded = handler;
    this.#protocol = protocol;
  }

  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void {
    this.#upgraded.onSwitch(headers, tunnel);
  }

  protected override open(call: UpstreamCall): UpstreamRequest {
    return this.server.upgrade(call, this.#protocol, this);
  }
}

/** Response to a request whose body is gone when its token turns out to be invalid. The next request has a renewed one. */
const sendAgain: LocalResponse = {
  status: 503,
  headers: ["content-type", "text/plain; charset=utf-8", "retry-after", "1"],
  body: "the token for the server was renewed: send the request again\n",
};

function wholeBody(body: BodySource, max: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    collect(body, max, new CountedBuffer(undefined), (bytes) => {
      if (typeof bytes === "string") reject(new Error(`the request body is ${bytes}`));
      else resolve(bytes);
    });
  });
}
