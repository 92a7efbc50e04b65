/** Format of refusals in the protocol that the client speaks. */
export interface RefusalFormat {
  /** Protocol of the route. */
  readonly protocol: "http" | "mcp" | "llm";
  readonly contentType: string;
  /** Formats the body. `message` is for the client and must not contain internals. */
  body(status: number, message: string): string;
}

/** Plain text. */
export const textRefusal: RefusalFormat = {
  protocol: "http",
  contentType: "text/plain; charset=utf-8",
  body: (_status, message) => message,
};
