import { type Dispatcher, EnvHttpProxyAgent, errors } from "undici";
import type { KubernetesAccess } from "./access.ts";
import { FIELD_MANAGER } from "./field-managers.ts";

/** A request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Media type of the body; `application/json` when absent. */
  readonly contentType?: string;
}

/** The API server's response to a request. */
export interface ApiResponse {
  readonly status: number;
  /** Parsed JSON, or the string if it is not JSON. */
  readonly body: unknown;
}

/** A watch that the API server refuses, with its status. */
export class WatchRefused extends Error {
  override readonly name = "WatchRefused";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Milliseconds that a request may take. */
const REQUEST_TIME = 30_000;
/** Maximum length of a line of a watch, in characters: an object of etcd's limit with all escapes. */
const MAX_LINE = 16 * 1024 * 1024;
/** Milliseconds until TCP probes find that the other end of a silent connection is gone. */
const PROBE_TIME = 15_000;

/**
 * Calls the Kubernetes API over HTTP/1.1, with one connection for each watch and a few for everything else. Uses the
 * proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`), as kubectl does.
 */
export class ApiServer {
  readonly #access: KubernetesAccess;
  readonly #dispatcher: Dispatcher;

  constructor(access: KubernetesAccess) {
    this.#access = access;
    const { ca, cert, key } = access;
    const tls = {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    };
    this.#dispatcher = new EnvHttpProxyAgent({
      connect: { ...tls, keepAlive: true, keepAliveInitialDelay: PROBE_TIME },
      requestTls: tls,
    });
  }

  /** Sends a request and returns the response of any status. Rejects if no whole response arrives in time. */
  async request(request: ApiRequest): Promise<ApiResponse> {
    try {
      const { statusCode, body } = await this.#send(request, REQUEST_TIME);
      return { status: statusCode, body: jsonOrText(await body.text()) };
    } catch (error) {
      throw isTimeout(error) ? new Error("no response in time") : error;
    }
  }

  /**
   * Follows a watch until the server ends it. Rejects with WatchRefused, with the error of the connection, or if nothing
   * arrives for `silence` milliseconds. An error that `onEvent` throws ends the watch.
   */
  async watch(
    path: string,
    onEvent: (event: unknown) => void,
    { silence, signal }: { readonly silence: number; readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      const { statusCode, body } = await this.#send({ method: "GET", path }, silence, signal);
      if (statusCode !== 200) {
        await body.dump();
        throw new WatchRefused(statusCode, `status ${statusCode}`);
      }
      for await (const line of linesOf(body.setEncoding("utf8"))) onEvent(JSON.parse(line));
    } catch (error) {
      throw isTimeout(error) ? new Error(`silent for ${silence} ms`) : error;
    }
  }

  /** Closes idle connections at once, and the others after their responses. */
  close(): void {
    void this.#dispatcher.close();
  }

  /** `timeout`: milliseconds until the head, and between two pieces of the body. */
  #send(
    { method, path, body, contentType = "application/json" }: ApiRequest,
    timeout: number,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { server, token } = this.#access;
    const bearer = token();
    return this.#dispatcher.request({
      origin: server.origin,
      path: `${server.pathname.replace(/\/$/, "")}${path}`,
      method,
      headers: {
        accept: "application/json",
        "user-agent": FIELD_MANAGER,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { "content-type": contentType }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: timeout,
      bodyTimeout: timeout,
      signal: signal ?? null,
    });
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
}

/** Splits a response into lines, without empty ones. Throws if a line is longer than `MAX_LINE`. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) throw new Error("a line without end");
    for (const line of lines) if (line !== "") yield line;
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
