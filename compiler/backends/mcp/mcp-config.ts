import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { FileText } from "../../host.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { AddressOrName } from "../../model/server-address.ts";
import type { Text } from "../../model/texts.ts";
import type { LockConfigMap } from "../../model/tool-lock.ts";
import type { ServerPoliciesValue } from "../backend.ts";
import type { AppLimitsConfig } from "./app-limits.ts";
import type { McpViewConfig } from "./mcp-views.ts";
import type { McpSessionsConfig } from "./sessions.ts";
import type { ToolSearchConfig } from "./tool-search.ts";
import type { ToolViewConfig } from "./tool-views.ts";

/** `mcp` as configured. */
export interface McpConfig {
  /**
   * Whether clients have sessions. If false, each request opens and ends a session with each server that it goes
   * to.
   */
  readonly isStateful: boolean;
  readonly targets: readonly McpTargetConfig[];
  /** Whether the list of targets is empty as written. Selectors that select nothing are reported by themselves. */
  readonly isEmptyAsWritten: boolean;
  readonly prefixMode: PrefixMode;
  readonly failureMode: "failClosed" | "failOpen";
  readonly sessions: McpSessionsConfig | undefined;
  /** Lock of approved items; `undefined` if all items that servers list are shown. */
  readonly toolLock: ToolLockConfig | undefined;
  /** Search for tools; `undefined` if lists are always complete. */
  readonly toolSearch: ToolSearchConfig | undefined;
  /** Tools that clients see in another way than their servers list them. */
  readonly toolViews: readonly ToolViewConfig[];
  /** Named sets of tools. */
  readonly views: readonly McpViewConfig[];
  /** Maximum of what apps may declare; `undefined` if they may declare everything. */
  readonly apps: AppLimitsConfig | undefined;
}

/**
 * When names of tools and prompts have their target's name as prefix: `conditional` if there are several targets. URIs of
 * resources always have it if there are several targets.
 */
export type PrefixMode = "conditional" | "always" | "never";

/** Location of a lock, with the place that names it. */
export interface ToolLockConfig {
  readonly file: string;
  /** ConfigMap that contains the lock, with its entry; absent if the lock is a file. */
  readonly configMap?: LockConfigMap & { readonly entry: FileText };
  readonly origin: Origin;
}

/** One MCP server, as configured. */
export type McpTargetConfig = NamedMcpTarget & {
  /** Connection policies that override the backend's; `undefined` for the backend's. */
  readonly policies: BackendPolicies | undefined;
  /** All of its policies in a file, as validated; absent if it has none. */
  readonly own?: Omit<ServerPoliciesValue, "name"> | undefined;
} & (McpAddress | McpCommand | OpenApiConfig);

/** A server of MCP over HTTP. */
interface McpAddress {
  readonly kind: "streamable" | "sse";
  readonly url: AddressOrName;
  /** Path below the address of a named backend; absent for the one that the transport usually has. */
  readonly path?: string | undefined;
}

/** An HTTP API whose operations become tools. */
interface OpenApiConfig {
  readonly kind: "openapi";
  /** Path or URL of the document, or the document itself. */
  readonly document:
    | { readonly file: string }
    | { readonly url: string }
    | { readonly text: string };
  /** Address of the API. */
  readonly address: AddressOrName;
  /** Base path of the operations, instead of the document's. */
  readonly basePath: string | undefined;
}

/** Revisions with sessions (up to 2025-11-25), or the stateless one (2026-07-28). */
export type McpEra = "sessions" | "stateless";

/** Common fields of MCP servers. */
export interface NamedMcpTarget {
  readonly name: string;
  /** Revisions that it supports; `undefined` to detect them. SSE servers have sessions. */
  readonly era: McpEra | undefined;
  readonly origin: Origin;
}

/** A server that is started as a child process. */
export interface McpCommand {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly Text[];
  readonly env: Readonly<Record<string, Text>>;
  /** Its folder; `undefined` for that of the gateway's process. */
  readonly cwd: Text | undefined;
  /** Whether `env` is the whole environment. */
  readonly isEnvironmentCleared: boolean;
}
