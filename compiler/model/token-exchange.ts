import type { TokenExchangeSettings } from "../../runtime/auth/oauth/token-exchange.ts";
import type { SignedTokenSettings, SignerSettings } from "../../runtime/auth/signed-jwt.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { NamedExpression } from "./expressions.ts";
import type { Json } from "./json.ts";
import type { SentCredentialConfig } from "./sent-credentials.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";

/** A secret with its place. */
type SecretConfig = Pick<SentCredentialConfig, "value" | "valueOrigin">;

/** Signer of tokens, with a key from `Key`. */
interface Signer<Key> extends Omit<SignerSettings, "key"> {
  readonly key: Key;
}

/** Signer of tokens as configured. */
export type SignerConfig = Signer<SecretConfig>;

/** OAuth client that requests tokens, with secrets from `Secret`. */
type ExchangeClient<Secret> = { readonly clientId: Text } & (
  | { readonly kind: "public" }
  | {
      readonly kind: "secret";
      readonly secret: Secret;
      readonly method: "clientSecretBasic" | "clientSecretPost";
    }
  | { readonly kind: "assertion"; readonly signer: Signer<Secret>; readonly audience: Text }
);

/** OAuth client as configured. */
export type ExchangeClientConfig = ExchangeClient<SecretConfig>;

/** OAuth client with all defaults. */
export type ExchangeClientNode = ExchangeClient<Text | MountedFile>;

/** A token endpoint as configured; `Policies` are connection settings. */
export interface TokenEndpointConfig<Policies> {
  /** Host with an optional scheme and port; HTTP by default. */
  readonly host: Text;
  readonly hostOrigin: Origin;
  readonly path: string;
  /** Connection settings of the server; absent if none are configured. */
  readonly policies?: Policies | undefined;
  readonly client: ExchangeClientConfig | undefined;
}

/** A token endpoint with all defaults; `Connection` is how it is reached. */
export interface TokenEndpointNode<Connection> {
  readonly url: Text;
  /** Absent if the server is reached like any other. */
  readonly connection?: Connection;
  readonly client: ExchangeClientNode | undefined;
}

/** Fields of an exchange that have no other form at startup. */
type ExchangeFields = Omit<
  AtStartup<TokenExchangeSettings>,
  "url" | "client" | "parameters" | "server" | "next" | "actor" | "subject" | "scopes"
> &
  Pick<TokenExchangeSettings, "actor" | "subject" | "scopes">;

/** `oauthTokenExchange`: requests carry a token that an authorization server issues for the client's token. */
export interface TokenExchangeConfig<Policies>
  extends ExchangeFields,
    TokenEndpointConfig<Policies> {
  readonly kind: "tokenExchange";
  readonly parameters: readonly NamedExpression[];
  /** Server that takes the first token as an assertion; `undefined` if that token is for the backend. */
  readonly next?:
    | (TokenEndpointConfig<Policies> & { readonly scopes: readonly string[] })
    | undefined;
}

/** `oauthTokenExchange` with all defaults. */
export interface TokenExchangeNode<Connection>
  extends ExchangeFields,
    TokenEndpointNode<Connection> {
  readonly kind: "tokenExchange";
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly next?:
    | (TokenEndpointNode<Connection> & { readonly scopes: readonly string[] })
    | undefined;
}

/** A token that the gateway signs for a backend, with a key from `Key`. */
interface SignedToken<Key> extends Pick<SignedTokenSettings, "lifetime" | "target"> {
  readonly kind: "signedToken";
  readonly signer: Signer<Key>;
  readonly claims: Readonly<Record<string, Json>>;
}

/** `jwtSign` as configured. */
export type SignedTokenConfig = SignedToken<SecretConfig>;

/** `jwtSign` with all defaults. */
export type SignedTokenNode = SignedToken<Text | MountedFile>;
