import type { TokenExchangeSettings } from "../../runtime/auth/oauth/token-exchange.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { NamedExpression } from "./expressions.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";

/** `oauthTokenExchange`: requests show a token that an authorization server gives for the client's own. */
export interface TokenExchangeConfig
  extends Omit<AtStartup<TokenExchangeSettings>, "url" | "client" | "parameters" | "server"> {
  readonly kind: "tokenExchange";
  /** Scheme, host and port; undefined scheme: HTTP. */
  readonly host: Text;
  readonly hostOrigin: Origin;
  readonly path: string;
  readonly client: ExchangeClientConfig | undefined;
  readonly parameters: readonly NamedExpression[];
}

/** Who asks for tokens. */
export interface ExchangeClientConfig {
  readonly clientId: Text;
  readonly clientSecret: Text | MountedFile;
  readonly method: "clientSecretBasic" | "clientSecretPost";
  readonly secretOrigin: Origin;
}

/** `oauthTokenExchange`, complete. */
export interface TokenExchangeNode
  extends Omit<TokenExchangeConfig, "host" | "hostOrigin" | "path" | "client" | "parameters"> {
  readonly url: Text;
  readonly client: Omit<ExchangeClientConfig, "secretOrigin"> | undefined;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}
