import type { JsonBody } from "../../json/json-body.ts";
import type {
  ClientFormat,
  Dialect,
  ResponseFacts,
  StreamReader,
  StreamWriter,
  UpstreamFormat,
} from "../chat/formats.ts";
import { isContent, type StreamEvent } from "../chat/stream-event.ts";
import { refuseUnkept } from "../chat/topics.ts";
import { parseObject } from "../formats/parse-object.ts";
import type { Provider } from "../providers/provider.ts";
import { editedObject } from "./chat-call.ts";
import { maxEvent } from "./limits.ts";
import type { EndpointPath, StreamRelay, StreamStep, Target } from "./target.ts";

/** How a provider is asked that speaks another format than the client. */
export interface TranslatedSettings {
  readonly provider: Provider;
  readonly path: EndpointPath;
  readonly client: ClientFormat;
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
  readonly prepare?: (body: JsonBody) => void;
}

/** A provider that speaks another format than the client: requests and responses are translated. */
export function translatedTarget(settings: TranslatedSettings): Target {
  const { provider, path, client, format, dialect, prepare } = settings;
  return {
    provider,
    path,
    prepare,
    isNative: false,
    requestBody: (call, body) => {
      const request = client.readRequest(editedObject(call, body));
      refuseUnkept(request.topics, format.fates, dialect.provider);
      return format.writeRequest(request, dialect);
    },
    readError: format.readError,
    readWhole: (text) => {
      const body = parseObject(text);
      if (body === undefined) throw new Error("the response is no JSON object");
      const response = format.readResponse(body);
      const { id, model, usage, stop: finish } = response;
      return { text: client.writeResponse(response), facts: { id, model, usage, finish } };
    },
    openStream: ({ body }, model) =>
      new TranslatedStream(format.openStream(maxEvent), client.openStream({ body, model })),
  };
}

/** Reads the provider's stream, and writes the client's. */
class TranslatedStream implements StreamRelay {
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly ping: string;
  facts: ResponseFacts = {};
  #state: StreamStep["state"] = "open";

  constructor(reader: StreamReader, writer: StreamWriter) {
    this.#reader = reader;
    this.#writer = writer;
    this.ping = writer.write({ kind: "ping" });
  }

  push(chunk: Buffer): StreamStep {
    return this.#pass(this.#reader.push(chunk));
  }

  close(): StreamStep {
    return this.#pass(this.#reader.end());
  }

  #pass(events: readonly StreamEvent[]): StreamStep {
    let text = "";
    let hasContent = false;
    for (const event of events) {
      if (event.kind === "error") {
        this.#state = event.error;
        break;
      }
      this.#note(event);
      text += this.#writer.write(event);
      hasContent ||= isContent(event);
      if (event.kind === "end") this.#state = "ended";
    }
    return { output: text === "" ? [] : [text], hasContent, state: this.#state };
  }

  #note(event: StreamEvent): void {
    if (event.kind === "start") {
      const { id, model } = event;
      this.facts = { ...this.facts, id, model: model === "" ? undefined : model };
    } else if (event.kind === "usage") this.facts = { ...this.facts, usage: event.usage };
    else if (event.kind === "stop") this.facts = { ...this.facts, finish: event.reason };
  }
}
