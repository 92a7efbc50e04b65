import type { Origin } from "../diagnostics/diagnostic.ts";
import type { KeysApiNode } from "../ir/keys-api.ts";
import type { JwksConfig } from "../policies/jwt-auth/jwks.ts";

/** HTTP API for API keys of the store, as configured. */
export interface KeysApiConfig extends Omit<KeysApiNode, "jwt"> {
  /** Tokens that its clients may send; `undefined` if it accepts none. */
  readonly jwt: KeysApiTokens | undefined;
}

/** Tokens of the API, as configured. */
export interface KeysApiTokens {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly jwks: JwksConfig;
  /** Expression that allows a request if true. */
  readonly rule: { readonly text: string; readonly origin: Origin };
  readonly origin: Origin;
}
