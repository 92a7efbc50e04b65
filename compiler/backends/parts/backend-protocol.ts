/** What is spoken to a backend: requests one by one, which policies may change and repeat, or the sessions of MCP. */
export type BackendProtocol = "http" | "mcp";
