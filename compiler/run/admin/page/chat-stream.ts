import { post } from "./data.ts";
import { isMembers, type JsonValue, parsed } from "./schema-form.tsx";

/** A message of a chat. */
export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A response whose body arrives in pieces. */
export interface StreamedChat {
  readonly status: number;
  readonly type: string;
  /** Port that the request was sent from, by which the gateway knows it. */
  readonly port: number;
  readonly body: ReadableStream<Uint8Array>;
}

/** Sends a request of the playground and returns the response as soon as its head is there. */
export async function streamChat(request: object, signal: AbortSignal): Promise<StreamedChat> {
  const response = await post("stream", request, signal);
  const problem = response.headers.get("x-gwc-problem");
  if (problem !== null || response.body === null)
    throw new Error(decodeURIComponent(problem ?? "there is no response"));
  return {
    status: Number(response.headers.get("x-gwc-status")),
    type: response.headers.get("x-gwc-type") ?? "",
    port: Number(response.headers.get("x-gwc-port")),
    body: response.body,
  };
}

/** Reads the pieces of a completion. Returns why there is none, in the words of the gateway or the provider. */
export async function readChat(
  { status, type, body }: StreamedChat,
  onPiece: (text: string) => void,
): Promise<string | undefined> {
  if (!type.startsWith("text/event-stream")) {
    const text = await textOf(body);
    const message = parsed(text);
    const content = contentOf(message);
    if (status >= 400 || content === undefined) return `${status}: ${problemOf(message) ?? text}`;
    onPiece(content);
    return undefined;
  }
  let problem: string | undefined;
  for await (const data of events(body)) {
    if (data === "[DONE]") continue;
    const message = parsed(data);
    problem ??= problemOf(message);
    const piece = contentOf(message);
    if (piece !== undefined && piece !== "") onPiece(piece);
  }
  return problem;
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(body).text();
}

/** Yields the data of server-sent events. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(decoder()).getReader();
  let rest = "";
  for (;;) {
    const { done, value = "" } = await reader.read();
    rest += value;
    const lines = rest.split(/\r?\n/);
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
    if (done) return;
  }
}

function decoder(): TransformStream<Uint8Array, string> {
  const text = new TextDecoder();
  return new TransformStream({
    transform: (chunk, out) => out.enqueue(text.decode(chunk, { stream: true })),
  });
}

/** Returns the text of a completion or of a piece of one. */
function contentOf(message: JsonValue | undefined): string | undefined {
  const choices = isMembers(message) ? message.choices : undefined;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  if (!isMembers(choice)) return undefined;
  const part = choice.delta ?? choice.message;
  const content = isMembers(part) ? part.content : undefined;
  return typeof content === "string" ? content : undefined;
}

function problemOf(message: JsonValue | undefined): string | undefined {
  const error = isMembers(message) ? message.error : undefined;
  if (typeof error === "string") return error;
  if (!isMembers(error)) return undefined;
  return typeof error.message === "string" ? error.message : JSON.stringify(error);
}
