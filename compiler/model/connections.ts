import type { KeepAliveSettings } from "../../runtime/net/connection-settings.ts";
import type { UpstreamTlsSettings } from "../../runtime/tls/upstream-tls.ts";
import type { CloudCredentials } from "./cloud-credentials.ts";
import type { HeaderChangesNode } from "./header-changes.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";
import type { TokenExchangeNode } from "./token-exchange.ts";

/** How a backend is reached; times in milliseconds. */
export interface BackendConnection {
  readonly connectTimeout: number;
  readonly keepAlive?: KeepAliveSettings;
  /** Undefined: as the URL's scheme says. */
  readonly tls?: BackendTlsNode;
  /** Undefined: HTTP/1.1. */
  readonly version?: "http2" | "negotiated";
  readonly requestTimeout?: number;
  /** The proxy through which it is reached. */
  readonly tunnel?: TunnelNode;
  /** What every request says in Authorization. */
  readonly authorization?: Text | MountedFile;
  /** What every request shows in another way than that. */
  readonly credentials?: CloudCredentials;
  /** The client's token becomes another one. */
  readonly tokenExchange?: TokenExchangeNode;
  readonly requestHeaders?: HeaderChangesNode;
  readonly responseHeaders?: HeaderChangesNode;
  /** It is asked by the name that the client used; absent: unless it has a name of its own. */
  readonly keepsHost?: boolean;
  /** The client's own Authorization goes on, although a policy has taken it. */
  readonly isPassthrough: boolean;
}

/** A proxy that opens tunnels; times in milliseconds. */
export interface TunnelNode
  extends Pick<BackendConnection, "connectTimeout" | "keepAlive" | "tls" | "authorization"> {
  readonly url: Text;
}

/** TLS to a backend; paths are as configured. */
export type BackendTlsNode = Omit<
  AtStartup<UpstreamTlsSettings>,
  UpstreamTlsFile | "authorities"
> & { readonly authorities?: readonly MountedFile[] } & {
  readonly [File in UpstreamTlsFile]?: Text | MountedFile;
};

type UpstreamTlsFile = "certFile" | "keyFile";

/** How connections are passed on to a backend; times in milliseconds. */
export interface TcpConnection
  extends Pick<BackendConnection, "connectTimeout" | "keepAlive" | "tls"> {
  /** What is offered in ALPN; undefined: nothing. */
  readonly alpn?: readonly string[];
}
