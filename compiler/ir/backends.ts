import type { KeepAliveSettings } from "../../runtime/net/connection-settings.ts";
import type { UpstreamTlsSettings } from "../../runtime/tls/upstream-tls.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { AtStartup, MountedFile, Text } from "./texts.ts";

/** Where a route's requests go. */
export type BackendNode = HostBackendNode | DynamicBackendNode | McpBackendNode;

/** A plain HTTP upstream. */
export interface HostBackendNode {
  readonly kind: "host";
  readonly url: Text;
  readonly connection: BackendConnection;
  /** Its share of the route's requests, in relation to the others'; 0: none. */
  readonly weight: number;
  readonly origin: Origin;
}

/** The host that each request names (dynamic forward proxy). */
export interface DynamicBackendNode {
  readonly kind: "dynamic";
  /** The port of a request that names none. */
  readonly port: number;
  /** Addresses and ranges that may be reached although they are not public. */
  readonly allowPrivate: readonly string[];
  readonly connection: BackendConnection;
  readonly origin: Origin;
}

/** How a backend is reached; times in milliseconds. */
export interface BackendConnection {
  readonly connectTimeout: number;
  readonly keepAlive?: KeepAliveSettings;
  /** Undefined: as the URL's scheme says. */
  readonly tls?: BackendTlsNode;
  /** Undefined: HTTP/1.1. */
  readonly version?: "http2" | "negotiated";
  readonly requestTimeout?: number;
  /** What every request says in Authorization. */
  readonly authorization?: Text | MountedFile;
  /** It is asked by the name that the client used; absent: unless it has a name of its own. */
  readonly keepsHost?: boolean;
  /** The client's own Authorization goes on, although a policy has taken it. */
  readonly isPassthrough: boolean;
}

/** TLS to a backend; paths are as configured. */
export type BackendTlsNode = Omit<AtStartup<UpstreamTlsSettings>, UpstreamTlsFile> & {
  readonly [File in UpstreamTlsFile]?: Text | MountedFile;
};

type UpstreamTlsFile = "authorities" | "certFile" | "keyFile";

/** One or more MCP servers behind one endpoint. */
export interface McpBackendNode {
  readonly kind: "mcp";
  readonly isStateful: boolean;
  readonly failureMode: "failClosed" | "failOpen";
  readonly prefixMode: "conditional" | "always";
  readonly targets: readonly McpTargetNode[];
  readonly origin: Origin;
}

/** One MCP server behind a backend. */
export type McpTargetNode = { readonly name: string; readonly origin: Origin } & (
  | {
      readonly kind: "streamable" | "sse";
      readonly url: Text;
      readonly connection: BackendConnection;
    }
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly Text[];
      readonly env: Readonly<Record<string, Text>>;
    }
);
