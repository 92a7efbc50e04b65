/** Parsed address of a server. */
export interface ServerUrl {
  /** `http://localhost/` for a Unix socket, because requests need a URL. */
  readonly url: URL;
  /** Path of the Unix socket; `undefined` if host and port are used. */
  readonly socketPath: string | undefined;
  /** `host:port`, or `unix:/run/agent.sock`, for logs. */
  readonly name: string;
}

/**
 * Parses the address of an HTTP server: an `http://` or `https://` URL, or `unix:` and a path. Returns `undefined` if it is
 * invalid.
 */
export function readServerUrl(text: string): ServerUrl | undefined {
  const url = URL.parse(text);
  switch (url?.protocol) {
    case "unix:":
      return {
        url: new URL("http://localhost"),
        socketPath: decodeURIComponent(url.pathname),
        name: text,
      };
    case "http:":
    case "https:": {
      const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
      return { url, socketPath: undefined, name: `${url.hostname}:${port}` };
    }
    default:
      return undefined;
  }
}
