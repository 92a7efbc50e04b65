import type { ApiKeyVariable, BasicAuthVariable, JwtVariable } from "../../cel/variables.ts";
import { editedRequest } from "../../http/edited-exchange.ts";
import type { Exchange } from "../../http/exchange.ts";
import type {
  PolicyHeaders,
  PolicyJson,
  PolicyRefusal,
  PolicyRequest,
} from "../../policy/policy.ts";
import { EditableHeaders } from "./policy-headers.ts";

/** Identities that earlier policies established; absent if none did. */
export interface KnownIdentities {
  readonly jwt?: JwtVariable;
  readonly apiKey?: ApiKeyVariable;
  readonly basicAuth?: BasicAuthVariable;
}

/** A refusal that a custom policy made with `request.refuse`. Any other object is no refusal. */
export class MadeRefusal implements PolicyRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>>) {
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError("a refusal has a status from 400 to 599");
    this.status = status;
    this.message = String(message);
    this.headers = headers;
  }
}

/** A request as a custom policy sees it. Parts that cost something are created on first use. */
export class RequestView implements PolicyRequest {
  readonly #exchange: Exchange;
  readonly #identities: KnownIdentities;
  #headers: PolicyHeaders | undefined;
  #aborter: AbortController | undefined;

  constructor(exchange: Exchange, identities: KnownIdentities = {}) {
    this.#exchange = exchange;
    this.#identities = identities;
  }

  get method(): string {
    return this.#exchange.method;
  }

  get url(): string {
    return this.#exchange.uri;
  }

  get path(): string {
    return this.#exchange.path;
  }

  get host(): string {
    return this.#exchange.host;
  }

  get headers(): PolicyHeaders {
    const exchange = this.#exchange;
    this.#headers ??= new EditableHeaders((name) => exchange.header(name), editedRequest(exchange));
    return this.#headers;
  }

  get clientAddress(): string {
    return this.#exchange.remoteAddress;
  }

  get jwt(): PolicyJson | null {
    return this.#identities.jwt ?? null;
  }

  get apiKey(): PolicyJson | null {
    return this.#identities.apiKey ?? null;
  }

  get user(): string | null {
    return this.#identities.basicAuth?.username ?? null;
  }

  get custom(): PolicyJson {
    return this.#exchange.attributes.custom ?? {};
  }

  get signal(): AbortSignal {
    if (this.#aborter === undefined) {
      const aborter = new AbortController();
      this.#aborter = aborter;
      this.#exchange.onAbort(() => aborter.abort());
    }
    return this.#aborter.signal;
  }

  refuse(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): PolicyRefusal {
    return new MadeRefusal(status, message, headers);
  }

  /** Aborts what waits for `signal`. */
  abort(): void {
    this.#aborter?.abort();
  }
}
