import type { SentPlace } from "../../runtime/auth/sent-credential.ts";
import type { KeepAlive } from "../../runtime/net/connection-settings.ts";
import type { UpstreamTlsSettings } from "../../runtime/tls/upstream-tls.ts";
import type { CloudCredentials } from "./cloud-credentials.ts";
import type { HeaderChangesNode } from "./header-changes.ts";
import type { IdentityUse } from "./identity-use.ts";
import type { SentCredentialNode } from "./sent-credentials.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";
import type {
  ClientCredentialsNode,
  SignedTokenNode,
  TokenExchangeNode,
} from "./token-exchange.ts";
import type { ConnectionUseNode } from "./user-connections.ts";

/** Connection settings of a backend; times are in milliseconds. */
export interface BackendConnection {
  readonly connectTimeout: number;
  readonly keepAlive?: KeepAlive;
  /** `undefined` to follow the scheme of the URL. */
  readonly tls?: BackendTlsNode;
  /** `undefined` for HTTP/1.1. */
  readonly version?: "http2" | "negotiated";
  readonly requestTimeout?: number;
  /** Proxy for connections. */
  readonly tunnel?: TunnelNode;
  /** Value of the Authorization header of every request. */
  readonly authorization?: Text | MountedFile;
  /** Credentials of every request that are not a fixed header. */
  readonly credentials?: CloudCredentials;
  /** Credentials in places other than Authorization. */
  readonly sent?: readonly SentCredentialNode[];
  /** Place to which the client's token is moved. */
  readonly movedToken?: SentPlace;
  /** Exchange of the client's token for another one. */
  readonly tokenExchange?: TokenExchangeNode<BackendConnection>;
  /** Token that an authorization server issues to the gateway. */
  readonly clientCredentials?: ClientCredentialsNode<BackendConnection>;
  /** Token that the gateway signs. */
  readonly signedToken?: SignedTokenNode;
  /** Connection of users whose tokens are sent. */
  readonly userConnection?: ConnectionUseNode;
  readonly requestHeaders?: HeaderChangesNode;
  readonly responseHeaders?: HeaderChangesNode;
  /** Whether Host is the name that the client used; `undefined` unless the server has its own name. */
  readonly keepsHost?: boolean;
  /** Whether the client's Authorization is forwarded although a policy has removed it. */
  readonly isPassthrough: boolean;
}

/** A proxy for tunnels (CONNECT); times are in milliseconds. */
export interface TunnelNode
  extends Pick<BackendConnection, "connectTimeout" | "keepAlive" | "tls" | "authorization"> {
  readonly url: Text;
}

/** TLS to a backend; paths are as configured. */
export type BackendTlsNode = Omit<
  AtStartup<UpstreamTlsSettings>,
  UpstreamTlsFile | "authorities" | "identity"
> & { readonly authorities?: readonly MountedFile[]; readonly identity?: IdentityUse } & {
  readonly [File in UpstreamTlsFile]?: Text | MountedFile;
};

type UpstreamTlsFile = "certFile" | "keyFile";

/** Settings of forwarded connections to a backend; times are in milliseconds. */
export interface TcpConnection
  extends Pick<BackendConnection, "connectTimeout" | "keepAlive" | "tls"> {
  /** Protocols that are offered with ALPN; `undefined` for none. */
  readonly alpn?: readonly string[];
}
