/** How the gateway writes what it refuses: in the words of the protocol that the client speaks. */
export interface RefusalFormat {
  /** What is spoken on the route. */
  readonly protocol: "http" | "mcp" | "llm";
  readonly contentType: string;
  /** The body. `message` is for the client: no internals. */
  body(status: number, message: string): string;
}

/** A small text. */
export const textRefusal: RefusalFormat = {
  protocol: "http",
  contentType: "text/plain; charset=utf-8",
  body: (_status, message) => message,
};
