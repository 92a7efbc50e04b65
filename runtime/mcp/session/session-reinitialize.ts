import { CountedBuffer } from "../../http/body/counted-buffer.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { Upstream, UpstreamHandler } from "../../http/upstream/upstream.ts";
import { type ResponseReader, readResponse } from "../transports/response-reader.ts";
import type { HttpSession } from "./session.ts";

/** Options for opening a session again. */
export interface ReinitializeOptions {
  /** The replica that opens it. */
  readonly upstream: Upstream;
  readonly session: HttpSession;
  /** The client's `initialize` params as JSON text. */
  readonly initialize: string;
  readonly headers: readonly string[];
  readonly version: string | undefined;
}

/**
 * Reopens a session that the target has forgotten, on behalf of the client: sends initialize with its params, then
 * notifications/initialized. Returns true if the target accepted both; `session.id` is then the new one. Never rejects.
 */
export async function reinitializeSession(options: ReinitializeOptions): Promise<boolean> {
  const { session, initialize } = options;
  const body = `{"jsonrpc":"2.0","id":"gwc-renewal","method":"initialize","params":${initialize}}`;
  const opened = await post(options, "", body);
  if (!opened.isTaken) return false;
  // The server has become one without sessions.
  if (opened.sessionId === "") {
    session.id = "";
    return true;
  }
  const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  if (!(await post(options, opened.sessionId, initialized)).isTaken) return false;
  session.id = opened.sessionId;
  return true;
}

interface PostOutcome {
  readonly isTaken: boolean;
  /** Empty if the response has none. */
  readonly sessionId: string;
}

function post(options: ReinitializeOptions, sessionId: string, body: string): Promise<PostOutcome> {
  const { upstream } = options;
  const headers = [...options.headers];
  headers.push("accept", "application/json, text/event-stream", "content-type", "application/json");
  const version = options.session.version || options.version;
  if (sessionId !== "") {
    headers.push("mcp-session-id", sessionId);
    if (version !== undefined) headers.push("mcp-protocol-version", version);
  }
  return new Promise((resolve) => {
    const call = { method: "POST", path: upstream.path, headers, body };
    upstream.send(call, new PostHandler(resolve));
  });
}

/** Waits for the end of one POST's response. */
class PostHandler implements UpstreamHandler {
  readonly #resolve: (outcome: PostOutcome) => void;
  #reader: ResponseReader | undefined;
  #sessionId = "";
  #isOk = false;
  #isRefused = false;

  constructor(resolve: (outcome: PostOutcome) => void) {
    this.#resolve = resolve;
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#isOk = status >= 200 && status < 300;
    this.#sessionId = headerValue(headers, "mcp-session-id") ?? "";
    this.#reader = readResponse(headers, MAX_RESPONSE, new CountedBuffer(undefined));
  }

  onData(chunk: Buffer): boolean {
    this.#look(this.#reader?.push(chunk));
    return true;
  }

  onEnd(): void {
    this.#look(this.#reader?.end());
    this.#resolve({ isTaken: this.#isOk && !this.#isRefused, sessionId: this.#sessionId });
  }

  onError(): void {
    this.#resolve({ isTaken: false, sessionId: "" });
  }

  #look(messages: ReturnType<ResponseReader["push"]>): void {
    if (messages === undefined) this.#isRefused ||= this.#reader !== undefined;
    for (const { message } of messages ?? []) {
      if (message?.kind === "response") this.#isRefused ||= message.result === undefined;
    }
  }
}

const MAX_RESPONSE = 1_048_576;
