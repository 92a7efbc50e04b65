/** Tool that fetches pages of the web, which the provider runs. */
export interface WebFetch {
  /** Maximum number of pages; `undefined` if there is no limit. */
  readonly maxUses: number | undefined;
  /** Domains of the only pages that may be fetched; `undefined` for all. */
  readonly allowedDomains: readonly string[] | undefined;
  readonly blockedDomains: readonly string[] | undefined;
}

/** A tool without limits. */
export const ANY_PAGE: WebFetch = {
  maxUses: undefined,
  allowedDomains: undefined,
  blockedDomains: undefined,
};

/** MCP server whose tools the provider calls itself. */
export interface McpConnector {
  readonly name: string;
  readonly url: string;
  /** OAuth token for the server, without `Bearer`; `undefined` if it needs none. */
  readonly token: string | undefined;
  /** Names of the only tools that may be called; `undefined` for all. */
  readonly allowedTools: readonly string[] | undefined;
}

/** Call of a tool that the provider ran, with its result. */
export type HostedBlock = CodeBlock | FetchBlock | McpBlock;

interface Hosted {
  readonly kind: "hosted";
  readonly id: string;
  readonly isError: boolean;
}

/** Program that the provider ran. */
export interface CodeBlock extends Hosted {
  readonly tool: "code";
  readonly code: string;
  readonly output: string;
}

/** Page that the provider fetched. */
export interface FetchBlock extends Hosted {
  readonly tool: "fetch";
  readonly url: string;
}

/** Call of a tool of an MCP server. */
export interface McpBlock extends Hosted {
  readonly tool: "mcp";
  readonly server: string;
  readonly name: string;
  /** JSON of an object. */
  readonly input: string;
  readonly output: string;
}
