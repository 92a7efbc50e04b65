import type { ClientCredentialsSettings } from "../../runtime/auth/oauth/client-credentials.ts";
import type {
  TokenExchangeSettings,
  TokenSource,
} from "../../runtime/auth/oauth/token-exchange.ts";
import type { SignedTokenSettings, SignerSettings } from "../../runtime/auth/signed-jwt.ts";
import type { CertificateHeader } from "../../runtime/auth/signer-certificate.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression, NamedExpression } from "./expressions.ts";
import type { Json } from "./json.ts";
import type { SentCredentialConfig } from "./sent-credentials.ts";
import type { AddressOrName } from "./server-address.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";

/** A secret with its place. */
type SecretConfig = Pick<SentCredentialConfig, "value" | "valueOrigin">;

/** Signer of tokens, with a key from `Key`. */
interface Signer<Key> extends Omit<SignerSettings, "key" | "certificate"> {
  readonly key: Key;
  /** Chain of certificates (PEM) for the key, and how tokens show it; absent if they do not. */
  readonly certificate?: { readonly chain: Key; readonly header: CertificateHeader } | undefined;
}

/** Signer of tokens as configured. */
export type SignerConfig = Signer<SecretConfig>;

/** Signer of tokens without literal secrets. */
export type SignerNode = Signer<Text | MountedFile>;

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
  /** Host with an optional scheme and port, HTTP by default; or the name of a backend. */
  readonly host: AddressOrName;
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

/** Location of a token in requests, with an expression in the form `Text`. */
type SourceOf<Text> =
  | Exclude<TokenSource, { readonly expression: unknown }>
  | { readonly expression: Text };

/** Location of a token as configured. */
export type TokenSourceConfig = SourceOf<Omit<NamedExpression, "name">>;

/** Location of a token with a compiled expression. */
export type TokenSourceNode = SourceOf<CompiledExpression>;

/** Fields of an exchange that have no other form at startup, with locations of tokens in the form `Source`. */
type ExchangeFields<Source> = Omit<
  AtStartup<TokenExchangeSettings>,
  "url" | "client" | "parameters" | "server" | "next" | "actor" | "subject" | "scopes"
> &
  Pick<TokenExchangeSettings, "scopes"> & {
    readonly subject: Source;
    readonly actor?:
      | (Omit<NonNullable<TokenExchangeSettings["actor"]>, "source"> & { readonly source: Source })
      | undefined;
  };

/** `oauthTokenExchange`: requests carry a token that an authorization server issues for the client's token. */
export interface TokenExchangeConfig<Policies>
  extends ExchangeFields<TokenSourceConfig>,
    TokenEndpointConfig<Policies> {
  readonly kind: "tokenExchange";
  readonly parameters: readonly NamedExpression[];
  /** Server that takes the first token as an assertion; `undefined` if that token is for the backend. */
  readonly next?:
    | (TokenEndpointConfig<Policies> & { readonly scopes: readonly string[] })
    | undefined;
}

/** An additional parameter of a token request: a string, or an expression for it. */
export interface ExchangeParameter {
  readonly name: string;
  readonly value: string | CompiledExpression;
}

/** `oauthTokenExchange` with all defaults. */
export interface TokenExchangeNode<Connection>
  extends ExchangeFields<TokenSourceNode>,
    TokenEndpointNode<Connection> {
  readonly kind: "tokenExchange";
  readonly parameters: readonly ExchangeParameter[];
  readonly next?:
    | (TokenEndpointNode<Connection> & { readonly scopes: readonly string[] })
    | undefined;
}

/** Fields of the gateway's own token that have no other form at startup. */
type ClientCredentialsFields = Pick<
  ClientCredentialsSettings,
  "audiences" | "scopes" | "resources" | "target" | "defaultLifetime"
>;

/** `clientCredentials`: requests carry a token that an authorization server issues to the gateway. */
export interface ClientCredentialsConfig<Policies>
  extends ClientCredentialsFields,
    TokenEndpointConfig<Policies> {
  readonly kind: "clientCredentials";
}

/** `clientCredentials` with all defaults. */
export interface ClientCredentialsNode<Connection>
  extends ClientCredentialsFields,
    TokenEndpointNode<Connection> {
  readonly kind: "clientCredentials";
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
