import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent, request as tlsRequest } from "node:https";
import type { KubernetesAccess } from "./access.ts";
import { FIELD_MANAGER } from "./field-managers.ts";

/** A request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Of the body; `application/json` when absent. */
  readonly contentType?: string;
}

/** What the API server says to a request. */
export interface ApiResponse {
  readonly status: number;
  /** JSON; a text that is none stays a text. */
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
/** The longest line of a watch, in characters: an object of etcd's limit with all escapes. */
const MAX_LINE = 16 * 1024 * 1024;
/** A connection whose other end is gone says so within this time, in milliseconds. */
const PROBE_TIME = 15_000;

/** The Kubernetes API over HTTP/1.1: a connection for each watch, few for everything else. */
export class ApiServer {
  readonly #access: KubernetesAccess;
  readonly #agent: Agent | PlainAgent;

  constructor(access: KubernetesAccess) {
    this.#access = access;
    const { ca, cert, key } = access;
    const settings = { keepAlive: true, keepAliveMsecs: PROBE_TIME, maxFreeSockets: 8 };
    this.#agent =
      access.server.protocol === "https:"
        ? new Agent({
            ...settings,
            ...(ca === undefined ? {} : { ca }),
            ...(cert === undefined ? {} : { cert }),
            ...(key === undefined ? {} : { key }),
          })
        : new PlainAgent(settings);
  }

  /** Rejects when there is no response: whatever the server says is a response. */
  request(request: ApiRequest): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const sent = this.#open(request, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(pieces).toString("utf8");
          resolve({ status: response.statusCode ?? 0, body: jsonOrText(text) });
        });
      });
      sent.setTimeout(REQUEST_TIME, () => sent.destroy(new Error("no response in time")));
      sent.on("error", reject);
      sent.end(request.body === undefined ? undefined : JSON.stringify(request.body));
    });
  }

  /**
   * Follows a watch until the server ends it. Rejects with WatchRefused, with what broke the connection, or when nothing
   * came for `silence` milliseconds.
   */
  watch(
    path: string,
    onEvent: (event: unknown) => void,
    { silence, signal }: { readonly silence: number; readonly signal: AbortSignal },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = this.#open({ method: "GET", path }, (response) => {
        const status = response.statusCode ?? 0;
        if (status !== 200) {
          response.resume();
          reject(new WatchRefused(status, `status ${status}`));
          return;
        }
        readLines(response, (line) => onEvent(JSON.parse(line)));
        response.on("end", resolve);
        // A response that breaks off has an error, or closes without an end.
        response.on("error", reject);
        response.on("close", () => reject(new Error("the connection was closed")));
      });
      sent.setTimeout(silence, () => sent.destroy(new Error(`silent for ${silence} ms`)));
      sent.on("error", reject);
      const abort = () => sent.destroy(new Error("stopped"));
      signal.addEventListener("abort", abort, { once: true });
      sent.on("close", () => signal.removeEventListener("abort", abort));
      sent.end();
    });
  }

  /** Ends idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  #open(
    { method, path, body, contentType = "application/json" }: ApiRequest,
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest {
    const { server, token } = this.#access;
    const bearer = token();
    const send = server.protocol === "https:" ? tlsRequest : plainRequest;
    const base = server.pathname.replace(/\/$/, "");
    return send(
      {
        agent: this.#agent,
        host: server.hostname.replace(/^\[|\]$/g, ""),
        port: server.port,
        method,
        path: `${base}${path}`,
        headers: {
          accept: "application/json",
          "user-agent": FIELD_MANAGER,
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { "content-type": contentType }),
        },
      },
      onResponse,
    );
  }
}

/** Cuts a response into lines. What `onLine` throws breaks the response. */
function readLines(response: IncomingMessage, onLine: (line: string) => void): void {
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    try {
      if (rest.length > MAX_LINE) throw new Error("a line without end");
      for (const line of lines) if (line !== "") onLine(line);
    } catch (error) {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
