/** Where a server is. */
export interface ServerUrl {
  /** Of a Unix socket `http://localhost/`: those who write requests need a URL. */
  readonly url: URL;
  /** The Unix socket of the machine that it listens on; undefined: host and port of the URL. */
  readonly socketPath: string | undefined;
  /** `host:port`, or `unix:/run/agent.sock`, for logs. */
  readonly name: string;
}

/** Reads the address of an HTTP server: an `http://` or `https://` URL, or `unix:` and a path. Undefined: it is none. */
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
