import type { ApiKeyVariable, BasicAuthVariable, JwtVariable } from "../../cel/variables.ts";
import { editedRequest } from "../../http/edited-exchange.ts";
import type { Exchange } from "../../http/exchange.ts";
import type {
  PolicyHeaders,
  PolicyJson,
  PolicyRefusal,
  PolicyRequest,
} from "../../policy/policy.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { MadeRefusal } from "./made-refusal.ts";
import { EditableHeaders } from "./policy-headers.ts";

/** Identities that earlier policies established; absent if none did. */
export interface KnownIdentities {
  readonly jwt?: JwtVariable;
  readonly apiKey?: ApiKeyVariable;
  readonly basicAuth?: BasicAuthVariable;
}

const NOTHING: PolicyJson = Object.freeze({});

/** A request as a custom policy sees it. Parts that cost something are created on first use. */
export class RequestView implements PolicyRequest {
  readonly #exchange: Exchange;
  readonly #identities: KnownIdentities;
  #headers: EditableHeaders | undefined;
  #isClosed = false;
  #jwt: PolicyJson | null = null;
  #apiKey: PolicyJson | null = null;
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
    this.#headers ??= new EditableHeaders(
      (name) => exchange.header(name),
      this.#isClosed ? undefined : editedRequest(exchange),
    );
    return this.#headers;
  }

  get clientAddress(): string {
    return this.#exchange.remoteAddress;
  }

  get jwt(): PolicyJson | null {
    this.#jwt ??= frozenCopy(this.#identities.jwt ?? null);
    return this.#jwt;
  }

  get apiKey(): PolicyJson | null {
    this.#apiKey ??= frozenCopy(this.#identities.apiKey ?? null);
    return this.#apiKey;
  }

  get user(): string | null {
    return this.#identities.basicAuth?.username ?? null;
  }

  get custom(): PolicyJson {
    return this.#exchange.attributes.custom ?? NOTHING;
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
    headers?: Readonly<Record<string, string>>,
  ): PolicyRefusal {
    return new MadeRefusal(status, message, headers);
  }

  /** Makes the headers read-only: the hook has ended, or the request has been sent. Returns the view. */
  close(): this {
    this.#isClosed = true;
    this.#headers?.close();
    return this;
  }

  /** Aborts what waits for `signal`. */
  abort(): void {
    this.#aborter?.abort();
  }
}
