import type { ClientRequest, IncomingMessage } from "node:http";
import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { streamedEventData } from "../../model/event-data.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import { answersEvents, type McpRoute, mcpPost, PLAYGROUND_CLIENT } from "./mcp-message.ts";
import { callPort, LONGEST, MAX_BYTES, openCall, type PortResult } from "./port-call.ts";

const VERSION = "2025-06-18";
/** The id of the call among the messages of its session. */
const CALL_ID = 2;
const METHOD_NOT_FOUND = -32_601;

/** The next step of a call: its result, or a question of the server, which waits for a response. */
export type CallStep =
  | { readonly kind: "result"; readonly result: PortResult }
  | {
      readonly kind: "question";
      readonly id: string;
      readonly method: string;
      readonly params: unknown;
    };

/** A call in a session of its own, which stays open while the server waits for responses of the reader. */
export class SessionCall {
  readonly #route: McpRoute;
  readonly #streams: ClientRequest[] = [];
  readonly #steps: CallStep[] = [];
  readonly #questions = new Map<string, unknown>();
  #failure: Error | undefined;
  #wake: () => void = () => {};

  private constructor(route: McpRoute) {
    this.#route = route;
  }

  /** Opens a session and sends a message in it. Returns the response to `initialize` if that is refused. */
  static async open(
    route: McpRoute,
    message: { readonly method: string; readonly params: unknown },
  ): Promise<SessionCall | PortResult> {
    const params = {
      protocolVersion: VERSION,
      capabilities: { elicitation: {} },
      clientInfo: PLAYGROUND_CLIENT,
    };
    const opened = await callPort(mcpPost(route, { id: 1, method: "initialize", params }));
    if (opened.status !== 200) return opened;
    const session = opened.headers["mcp-session-id"];
    const own = [
      `mcp-protocol-version: ${VERSION}`,
      ...(typeof session === "string" ? [`mcp-session-id: ${session}`] : []),
    ];
    const call = new SessionCall({ ...route, headers: [...route.headers, ...own] });
    await call.#post({ method: "notifications/initialized" });
    // Servers may ask on a stream of the session, too.
    if (message.method === "tools/call") call.#listen();
    call.#call({ id: CALL_ID, ...message });
    return call;
  }

  /** Returns the next step. Rejects if nothing comes in time. */
  async next(): Promise<CallStep> {
    const deadline = setTimeout(() => this.#fail(new Error("no response in 15 s")), LONGEST);
    try {
      for (;;) {
        const step = this.#steps.shift();
        if (step !== undefined) return step;
        if (this.#failure !== undefined) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Responds to questions by their ids; those without a response are declined. */
  async respond(responses: Readonly<Record<string, unknown>>): Promise<void> {
    for (const [key, id] of this.#questions) {
      const result = Object.hasOwn(responses, key) ? responses[key] : { action: "decline" };
      await this.#post({ id, result });
    }
    this.#questions.clear();
  }

  /** Ends the session and its streams. */
  async end(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    // The server may be gone, and its session with it.
    await callPort({ ...this.#route, method: "DELETE", body: "" }).catch(() => {});
  }

  #post(message: object): Promise<PortResult> {
    return callPort(mcpPost(this.#route, message));
  }

  #call(message: object): void {
    const call = mcpPost(this.#route, message);
    const sent = openCall(call);
    this.#streams.push(sent);
    sent.on("error", (error) => this.#fail(error));
    sent.on("response", (response) => {
      this.#read(response).catch((error) => this.#fail(error));
    });
    sent.end(call.body);
  }

  #listen(): void {
    const headers = [...this.#route.headers, "accept: text/event-stream"];
    const sent = openCall({ ...this.#route, headers, method: "GET", body: "" });
    this.#streams.push(sent);
    // Such a stream is optional.
    sent.on("error", () => {});
    sent.on("response", (response) => {
      if (answersEvents(response)) this.#readEvents(response).catch(() => {});
      else response.resume();
    });
    sent.end();
  }

  async #read(response: IncomingMessage): Promise<void> {
    if (answersEvents(response)) {
      await this.#readEvents(response);
      this.#fail(new Error("the stream ended without a response"));
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
    this.#finish(response, Buffer.concat(chunks).subarray(0, MAX_BYTES), size > MAX_BYTES);
  }

  async #readEvents(response: IncomingMessage): Promise<void> {
    for await (const data of streamedEventData(response)) {
      const message = valueOfJson(data);
      if (!isJsonObject(message)) continue;
      const { id, method, params } = message;
      if (id === undefined) continue;
      if (typeof method !== "string") {
        if (id === CALL_ID) this.#finish(response, Buffer.from(data), false);
      } else if (method === "elicitation/create") {
        const key = String(id);
        this.#questions.set(key, id);
        this.#push({ kind: "question", id: key, method, params });
      } else if (method === "ping") {
        await this.#post({ id, result: {} });
      } else {
        await this.#post({ id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } });
      }
    }
  }

  #finish(response: IncomingMessage, body: Buffer, isCut: boolean): void {
    const { statusCode: status = 0, headers, socket } = response;
    const isEvent = answersEvents(response);
    this.#push({
      kind: "result",
      result: {
        status,
        headers: isEvent ? { ...headers, "content-type": "application/json" } : headers,
        body: body.toString("utf8"),
        isCut,
        clientPort: socket.localPort,
      },
    });
  }

  #push(step: CallStep): void {
    this.#steps.push(step);
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
