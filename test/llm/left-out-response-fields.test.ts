import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import type { ClientFormat, UpstreamFormat } from "../../runtime/llm/chat/formats.ts";
import { LostFields } from "../../runtime/llm/chat/response-fields.ts";
import type { StreamEvent } from "../../runtime/llm/chat/stream-event.ts";
import { completionsClient } from "../../runtime/llm/formats/completions/client.ts";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { converseClient } from "../../runtime/llm/formats/converse/client.ts";
import { ConverseEvents } from "../../runtime/llm/formats/converse/stream-reader.ts";
import { converseUpstream } from "../../runtime/llm/formats/converse/upstream.ts";
import { generateContentClient } from "../../runtime/llm/formats/generate-content/client.ts";
import { generateContentUpstream } from "../../runtime/llm/formats/generate-content/upstream.ts";
import { messagesClient } from "../../runtime/llm/formats/messages/client.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { responsesClient } from "../../runtime/llm/formats/responses/client.ts";
import { responsesUpstream } from "../../runtime/llm/formats/responses/upstream.ts";
import {
  type Definitions,
  isObject,
  type JsonValue,
} from "../harness/provider-schemas/json-schema.ts";
import { root } from "../harness/root.ts";
import { lost, repeated } from "./lost-response-fields.ts";
import { allFieldsOfSchema } from "./schema-fields.ts";

const clients = {
  completions: completionsClient,
  messages: messagesClient,
  responses: responsesClient,
  generateContent: generateContentClient,
  converse: converseClient,
} as const satisfies Readonly<Record<string, ClientFormat>>;

type ClientName = keyof typeof clients;

/** How the responses of a provider's format are tried. */
interface Tried {
  readonly format: UpstreamFormat;
  /** The client that gets its bytes as they are. */
  readonly native: ClientName;
  readonly document: string;
  /** Definition of a whole response, and members that every response has. */
  readonly whole: readonly [definition: string, base: JsonObject];
  /** Definition of what a stream is tried with. */
  readonly event: string;
  /** Returns the events of a stream with an event. */
  readonly stream: (event: Definitions) => readonly JsonObject[];
  /** Replaces the beginning of a path in an event with its path in a whole response. */
  readonly places: readonly (readonly [RegExp, string])[];
}

const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const completionsUsage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const inputUsage = { input_tokens: 3, output_tokens: 4 };
const responseUsage = { ...inputUsage, total_tokens: 7 };
const googleUsage = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 };
const bedrockUsage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };

const messageStart = {
  type: "message_start",
  message: { id: "m", model: "m", usage: inputUsage },
};
const messageDelta = {
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage: { output_tokens: 4 },
};

/** Returns the start of the block that a piece belongs to: pieces of schemas have the index 2. */
function openedBlock(delta: JsonValue | undefined): JsonObject {
  const isInput = isObject(delta) && delta.type === "input_json_delta";
  const block = isInput
    ? { type: "tool_use", id: "t", name: "f", input: {} }
    : { type: "text", text: "Hi" };
  return { type: "content_block_start", index: 2, content_block: block };
}

/** The start of a call in a stream of Bedrock. */
const startedCall = {
  contentBlockStart: {
    contentBlockIndex: 2,
    start: { toolUse: { toolUseId: "t", name: "f" } },
  },
};

const tried = {
  OpenAI: {
    format: completionsUpstream,
    native: "completions",
    document: "openai",
    whole: ["CreateChatCompletionResponse", { usage: completionsUsage }],
    event: "CreateChatCompletionStreamResponse",
    stream: (event) => [
      event,
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...merged({ ...chunk, usage: completionsUsage }, event), choices: [] },
    ],
    places: [[/^choices\[\]\.delta/, "choices[].message"]],
  },
  Responses: {
    format: responsesUpstream,
    native: "responses",
    document: "openai",
    whole: ["Response", { usage: responseUsage, status: "incomplete" }],
    event: "Response",
    stream: (response) => [
      {
        type: "response.completed",
        response: merged({ usage: responseUsage, status: "incomplete" }, response),
      },
    ],
    places: [],
  },
  Anthropic: {
    format: messagesUpstream,
    native: "messages",
    document: "anthropic",
    whole: ["Message", { usage: inputUsage }],
    event: "MessageStreamEvent",
    stream: (event) => [
      ...(event.type === "message_start" ? [event] : [messageStart]),
      ...(event.type === "content_block_delta" ? [openedBlock(event.delta)] : []),
      ...(["message_start", "message_delta"].includes(String(event.type)) ? [] : [event]),
      { type: "content_block_stop", index: 2 },
      ...(event.type === "message_delta" ? [event] : [messageDelta]),
      { type: "message_stop" },
    ],
    places: [
      [/^delta\.(?=stop_|container)|^message\./, ""],
      [/^delta\.citation\b/, "content[].citations[]"],
      [/^(?:content_block|delta)\./, "content[]."],
    ],
  },
  Gemini: {
    format: generateContentUpstream,
    native: "generateContent",
    document: "gemini",
    whole: ["GenerateContentResponse", { usageMetadata: googleUsage }],
    event: "GenerateContentResponse",
    stream: (response) => [
      merged({ usageMetadata: googleUsage }, response),
      JSON.stringify(response).includes("finishReason")
        ? {}
        : { candidates: [{ finishReason: "STOP" }] },
    ],
    places: [],
  },
  Bedrock: {
    format: converseUpstream,
    native: "converse",
    document: "bedrock",
    whole: ["ConverseResponse", { usage: bedrockUsage }],
    event: "ConverseStreamOutput",
    stream: (event) => [
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } },
      ...(JSON.stringify(event).includes("toolUse") ? [startedCall] : []),
      ...("metadata" in event || "messageStop" in event ? [] : [event]),
      { contentBlockStop: { contentBlockIndex: 0 } },
      "messageStop" in event ? event : { messageStop: { stopReason: "end_turn" } },
      merged({ metadata: { usage: bedrockUsage } }, event.metadata === undefined ? {} : event),
    ],
    places: [
      [/^(?:messageStop|metadata)\./, ""],
      [/^messageStart\./, "output.message."],
      [
        /^(?:contentBlockDelta\.)?delta\.citation\b/,
        "output.message.content[].citationsContent.citations[]",
      ],
      [
        /^(?:contentBlockStart\.)?start\.|^(?:contentBlockDelta\.)?delta\./,
        "output.message.content[].",
      ],
    ],
  },
} as const satisfies Readonly<Record<ProviderName, Tried>>;

type ProviderName = keyof typeof lost;

/** The part of a response that a client gets: its text, and the names of fields; `undefined` if the response is refused. */
type Got = { readonly text: string; readonly names: string } | undefined;

function wholeFor(client: ClientFormat, { format, whole }: Tried, body: JsonValue): Got {
  const response = merged(whole[1], body);
  const fields = new LostFields();
  fields.note(response, format.responseFields);
  return attempted(() => client.writeResponse(format.readResponse(response), request), fields);
}

/** Returns a response with the members that every response has. */
function merged(base: JsonObject, body: JsonValue): JsonObject {
  if (!isObject(body)) return base;
  const inner = Object.entries(base).map(([name, value]) => {
    const own = body[name];
    const isJoined = isObject(own) && typeof value === "object" && !Array.isArray(value);
    return [name, isJoined ? { ...value, ...own } : (own ?? value)] as const;
  });
  return { ...body, ...Object.fromEntries(inner) };
}

function streamFor(client: ClientFormat, provider: Tried, body: JsonValue): Got {
  const fields = new LostFields();
  const events = provider.stream(isObject(body) ? body : {});
  return attempted(() => {
    const read = eventsOf(provider, events, fields);
    if (read.some(({ kind }) => kind === "error")) throw new Error("the stream is refused");
    const writer = client.openStream(request);
    return read.map((event) => writer.write(event)).join("");
  }, fields);
}

function eventsOf(
  { format }: Tried,
  events: readonly JsonObject[],
  fields: LostFields,
): readonly StreamEvent[] {
  if (format.name === "converse") {
    const reader = new ConverseEvents(fields);
    return events.flatMap((event) =>
      Object.entries(event).flatMap(([type, value]) => {
        const payload = Buffer.from(JSON.stringify(value));
        return reader.read({ headers: new Map([[":event-type", type]]), payload, bytes: payload });
      }),
    );
  }
  const reader = format.openStream(1_000_000, fields);
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return [...reader.push(Buffer.from(text)), ...reader.end()];
}

const request = {
  body: { model: "m", stream_options: { include_usage: true } },
  model: "m",
  started: 0,
};

function attempted(write: () => string, fields: LostFields): Got {
  try {
    return { text: write().replace(OWN, ""), names: fields.names ?? "" };
  } catch {
    return undefined;
  }
}

/** Matches ids and times that the gateway makes up. */
const OWN =
  /"(?:created|created_at|latencyMs)":\d+|[0-9a-f]{8}-[0-9a-f-]{27}|(?:resp|msg|fc|rs|ws|ci|mcp|call|srvtoolu)_\w{10,}/g;

/** Returns the fields that a client loses in silence. */
function silentFields(provider: Tried, client: ClientFormat, isStream: boolean): readonly string[] {
  const file = path.join(root, "test/harness/provider-schemas", `${provider.document}.json`);
  const definition = isStream ? provider.event : provider.whole[0];
  const fields = allFieldsOfSchema(JSON.parse(readFileSync(file, "utf8")).$defs, definition);
  const got = isStream ? streamFor : wholeFor;
  const found = new Map<string, boolean>();
  for (const { path: at, withField, without } of fields) {
    if (ERRORS.test(at)) continue;
    const response = got(client, provider, withField);
    if (response === undefined) continue;
    const placed = (name: string) => (isStream ? placeOf(name, provider) : name);
    const field = placed(at);
    const before = got(client, provider, without);
    const isNamed = response.names.split(", ").some((name) => covers(placed(name), field));
    const isSilent = !isNamed && response.text === before?.text;
    found.set(field, isSilent && found.get(field) !== false);
  }
  return [...found].flatMap(([field, isSilent]) => (isSilent ? [field] : []));
}

/** Matches members of a stream that are errors, which are not part of a response. */
const ERRORS = /^\w+Exception\b/;

function placeOf(field: string, { places }: Tried): string {
  const [place] = places.filter(([pattern]) => pattern.test(field));
  return place === undefined ? field : field.replace(...place);
}

/** Whether a field is another, or in it. */
function covers(outer: string, field: string): boolean {
  const plain = outer.replaceAll("[]", "");
  const inner = field.replaceAll("[]", "");
  return plain !== "" && (inner === plain || inner.startsWith(`${plain}.`));
}

const providers: readonly ProviderName[] = [
  "OpenAI",
  "Responses",
  "Anthropic",
  "Gemini",
  "Bedrock",
];
const names: readonly ClientName[] = [
  ...(["completions", "messages", "responses"] as const),
  ...(["generateContent", "converse"] as const),
];

it.each(providers)("only listed fields of responses of %s are left out in silence", (name) => {
  const provider: Tried = tried[name];
  const used = new Set<string>();
  const unlisted = new Set<string>();
  for (const client of names.filter((each) => each !== provider.native)) {
    const listed = [
      ...Object.entries(lost[name]).flatMap(([field, whom]) =>
        isFor(whom, client) ? [field] : [],
      ),
      ...repeated[name],
    ];
    for (const isStream of [false, true]) {
      for (const field of silentFields(provider, clients[client], isStream)) {
        const entries = listed.filter((outer) => covers(outer, field));
        for (const entry of entries) used.add(entry);
        if (entries.length === 0)
          unlisted.add(`${field} for ${client}${isStream ? ", streamed" : ""}`);
      }
    }
  }
  expect([...unlisted]).toEqual([]);
  expect([...used].sort()).toEqual([...Object.keys(lost[name]), ...repeated[name]].sort());
});

function isFor(whom: string, client: ClientName): boolean {
  return whom === "all" || whom.split(" ").includes(client);
}

const titles: Readonly<Record<ClientName, string>> = {
  completions: "chat completions",
  messages: "messages",
  responses: "responses",
  generateContent: "generateContent",
  converse: "converse",
};

it.each(providers)("the guide names every field of %s that is left out, and for whom", (name) => {
  const rows = Map.groupBy(Object.entries(lost[name]).sort(), ([, whom]) => whom);
  const expected = [...rows].map(([whom, all]) => {
    const fields = all.map(([field]) => `\`${field}\``).join(", ");
    const given = names
      .filter((each) => whom.split(" ").includes(each))
      .map((each) => titles[each]);
    return `| ${name} | ${whom === "all" ? "all" : given.join(", ")} | ${fields} |`;
  });
  const guide = readFileSync(path.join(root, ".github/guides/models.md"), "utf8");
  const [, section = ""] = guide.split("| responses of | left out for clients of | fields |");
  const row = new RegExp(`^\\| ${name} \\|.*\`.*$`, "gm");
  expect(section.match(row)?.sort()).toEqual(expected.sort());
});
