import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { FileText } from "../../host.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { Text } from "../../model/texts.ts";
import type { LockConfigMap } from "../../model/tool-lock.ts";
import type { McpSessionsConfig } from "./sessions.ts";

/** `mcp` as configured. */
export interface McpConfig {
  /** False: each request opens a session with each server that it goes to, and ends it. */
  readonly isStateful: boolean;
  readonly targets: readonly McpTargetConfig[];
  readonly prefixMode: "conditional" | "always";
  readonly failureMode: "failClosed" | "failOpen";
  readonly sessions: McpSessionsConfig | undefined;
  /** What is approved; undefined: everything that a server lists is shown. */
  readonly toolLock: ToolLockConfig | undefined;
}

/** Where a lock is, and where it is named. */
export interface ToolLockConfig {
  readonly file: string;
  /** The ConfigMap whose entry it is, and what it is; absent: it is a file. */
  readonly configMap?: LockConfigMap & { readonly entry: FileText };
  readonly origin: Origin;
}

/** One MCP server as configured. */
export type McpTargetConfig = NamedMcpTarget & {
  /** How it is reached, over what the backend says; undefined: as that. */
  readonly policies: BackendPolicies | undefined;
} & ({ readonly kind: "streamable" | "sse"; readonly url: Text } | McpCommand | OpenApiConfig);

/** An HTTP API whose operations are tools. */
interface OpenApiConfig {
  readonly kind: "openapi";
  /** The path of the document, or its text. */
  readonly document: { readonly file: string } | { readonly text: string };
  /** Where the API is. */
  readonly address: Text;
  /** What its paths are put below, in the place of what the document says. */
  readonly basePath: string | undefined;
}

/** What the field of sessions says, in both forms. */
export const SESSIONS_KEPT =
  "Whether clients have sessions. Without, each of their requests opens one with each server that it goes to and ends it: any replica serves any request, and servers can't ask clients, notify them or remember them.";

/** What a field of it says, in both forms. */
export const ERA =
  "Which revisions of MCP the server speaks: those with sessions (up to 2025-11-25), or the stateless one (2026-07-28). By default the gateway finds out.";

/** Revisions with sessions (up to 2025-11-25), or the one without (2026-07-28). */
export type McpEra = "sessions" | "stateless";

/** What every MCP server has. */
export interface NamedMcpTarget {
  readonly name: string;
  /** Which revisions it speaks; undefined: it shows that of itself. Servers over SSE have sessions. */
  readonly era: McpEra | undefined;
  readonly origin: Origin;
}

/** A server that is started as a child process. */
export interface McpCommand {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly Text[];
  readonly env: Readonly<Record<string, Text>>;
  /** Whether that is its whole environment. */
  readonly isEnvironmentCleared: boolean;
}
