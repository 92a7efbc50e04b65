import { type ProviderSchema, responseProblems } from "../../harness/provider-schema.ts";

/** The bytes that a client's SDK has read. */
export class Wire {
  readonly #responses: Promise<string>[] = [];

  /** Sends as `fetch` does, and keeps a copy of what comes. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    this.#responses.push(
      response
        .clone()
        .text()
        .catch(() => ""),
    );
    return response;
  };

  /** Returns the differences from the format's own document. */
  async problems(format: string): Promise<readonly string[]> {
    const texts = await Promise.all(this.#responses);
    return texts.flatMap((text) => messagesIn(text).flatMap((each) => problemsOf(format, each)));
  }
}

/** The responses or events in a text. */
function messagesIn(
  text: string,
): readonly { readonly isEvent: boolean; readonly value: object }[] {
  if (text.startsWith("{")) return [{ isEvent: false, value: JSON.parse(text) }];
  return [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data = "{}"]) => {
    return { isEvent: true, value: JSON.parse(data) };
  });
}

function problemsOf(
  format: string,
  { isEvent, value }: { readonly isEvent: boolean; readonly value: object },
): readonly string[] {
  if ("type" in value && value.type === "ping") return [];
  const hasError = "error" in value && value.error !== null && !(isEvent && format === "responses");
  const schema = schemas[format]?.[hasError ? "error" : isEvent ? "event" : "whole"];
  if (schema === undefined) throw new Error(`there is no schema of ${format}`);
  // Google's document has the error itself, without the object around it.
  const given = schema[1] === "Status" && "error" in value ? withoutWord(value.error) : value;
  return responseProblems(schema, given).map((each) => `${JSON.stringify(value)}: ${each}`);
}

/** Returns an error of Google without its word, which its document does not have. */
function withoutWord(error: unknown): object {
  const { status: _, ...others } = Object(error);
  return others;
}

const schemas: Readonly<
  Record<string, Readonly<Record<"whole" | "event" | "error", ProviderSchema>>>
> = {
  completions: {
    whole: ["openai", "CreateChatCompletionResponse"],
    event: ["openai", "CreateChatCompletionStreamResponse"],
    error: ["openai", "ErrorResponse"],
  },
  messages: {
    whole: ["anthropic", "Message"],
    event: ["anthropic", "MessageStreamEvent"],
    error: ["anthropic", "ErrorResponse"],
  },
  "generate-content": {
    whole: ["gemini", "GenerateContentResponse"],
    event: ["gemini", "GenerateContentResponse"],
    error: ["gemini", "Status"],
  },
  responses: {
    whole: ["openai", "Response"],
    event: ["openai", "ResponseStreamEvent"],
    error: ["openai", "ErrorResponse"],
  },
};
