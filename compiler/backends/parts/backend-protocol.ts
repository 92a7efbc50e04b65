/** What is spoken to a backend: requests one by one, which policies may change and repeat, the sessions of MCP, or requests to models. */
export type BackendProtocol = "http" | "mcp" | "llm";
