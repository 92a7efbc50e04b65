import type { TokenExchangeSettings } from "../../runtime/auth/oauth/token-exchange.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { NamedExpression } from "./expressions.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";

/** `oauthTokenExchange`: requests carry a token that an authorization server issues for the client's token. */
export interface TokenExchangeConfig
  extends Omit<AtStartup<TokenExchangeSettings>, "url" | "client" | "parameters" | "server"> {
  readonly kind: "tokenExchange";
  /** Host with an optional scheme and port; HTTP by default. */
  readonly host: Text;
  readonly hostOrigin: Origin;
  readonly path: string;
  readonly client: ExchangeClientConfig | undefined;
  readonly parameters: readonly NamedExpression[];
}

/** OAuth client that requests the tokens. */
export interface ExchangeClientConfig {
  readonly clientId: Text;
  readonly clientSecret: Text | MountedFile;
  readonly method: "clientSecretBasic" | "clientSecretPost";
  readonly secretOrigin: Origin;
}

/** `oauthTokenExchange` with all defaults. */
export interface TokenExchangeNode
  extends Omit<TokenExchangeConfig, "host" | "hostOrigin" | "path" | "client" | "parameters"> {
  readonly url: Text;
  readonly client: Omit<ExchangeClientConfig, "secretOrigin"> | undefined;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}
