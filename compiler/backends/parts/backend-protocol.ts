/**
 * Protocol of a backend: independent HTTP requests, which policies may change and repeat; MCP sessions; or
 * requests to LLMs.
 */
export type BackendProtocol = "http" | "mcp" | "llm";
