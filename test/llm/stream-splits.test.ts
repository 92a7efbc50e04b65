import fc from "fast-check";
import { expect, it } from "vitest";
import { ChatCall } from "../../runtime/llm/calls/chat-call.ts";
import { nativeTarget } from "../../runtime/llm/calls/native-target.ts";
import type { LlmTarget } from "../../runtime/llm/calls/target.ts";
import { translatedTarget } from "../../runtime/llm/calls/translated-target.ts";
import { completionsClient } from "../../runtime/llm/formats/completions/client.ts";
import { completionsNative } from "../../runtime/llm/formats/completions/native.ts";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { converseUpstream } from "../../runtime/llm/formats/converse/upstream.ts";
import { generateContentUpstream as generateContent } from "../../runtime/llm/formats/generate-content/upstream.ts";
import { messagesClient } from "../../runtime/llm/formats/messages/client.ts";
import { messagesNative } from "../../runtime/llm/formats/messages/native.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { responsesClient } from "../../runtime/llm/formats/responses/client.ts";
import { responsesNative } from "../../runtime/llm/formats/responses/native.ts";
import { responsesUpstream } from "../../runtime/llm/formats/responses/upstream.ts";
import { openProvider } from "../../runtime/llm/providers/provider.ts";
import { completionsStream, messagesStream } from "./stream-samples.ts";
import { converseUpstream as converseServer } from "./table/converse-upstream.ts";
import { calls, script } from "./table/features.ts";
import { generateContentUpstream as generateContentServer } from "./table/generate-content-upstream.ts";
import { responsesUpstream as responsesServer } from "./table/responses-upstream.ts";
import type { Upstream } from "./table/upstream.ts";

const RUNS = 1_000;

const provider = openProvider({
  name: "p",
  system: "p",
  url: "http://127.0.0.1:1",
  connectTimeout: 1,
});
const base = { provider, path: "/" };
const dialect = { provider: "p" };

/** Returns a model's stream with a thought and calls, as a server of a format sends it. */
function streamOf(server: Upstream): Buffer {
  const said = { text: script.text, reasoning: script.thought, calls };
  return Buffer.concat(server.events(said).map((event) => Buffer.from(event)));
}

const targets: readonly (readonly [string, LlmTarget, string | Buffer])[] = [
  ["completions", nativeTarget({ ...base, format: completionsNative }), completionsStream],
  ["responses", nativeTarget({ ...base, format: responsesNative }), streamOf(responsesServer)],
  [
    "messages as responses",
    translatedTarget({ ...base, client: responsesClient, format: messagesUpstream, dialect }),
    messagesStream,
  ],
  [
    "converse as messages",
    translatedTarget({ ...base, client: messagesClient, format: converseUpstream, dialect }),
    streamOf(converseServer(true)),
  ],
  [
    "generateContent as completions",
    translatedTarget({ ...base, client: completionsClient, format: generateContent, dialect }),
    streamOf(generateContentServer),
  ],
  [
    "responses as messages",
    translatedTarget({ ...base, client: messagesClient, format: responsesUpstream, dialect }),
    streamOf(responsesServer),
  ],
  [
    "responses as completions",
    translatedTarget({ ...base, client: completionsClient, format: responsesUpstream, dialect }),
    streamOf(responsesServer),
  ],
  ["messages", nativeTarget({ ...base, format: messagesNative }), messagesStream],
  [
    "messages as completions",
    translatedTarget({ ...base, client: completionsClient, format: messagesUpstream, dialect }),
    messagesStream,
  ],
  [
    "completions as messages",
    translatedTarget({ ...base, client: messagesClient, format: completionsUpstream, dialect }),
    completionsStream,
  ],
];

const body = { model: "m", stream: true, stream_options: { include_usage: true } };
const sent = { text: "", bytes: new Uint8Array() };
const call = new ChatCall({
  client: { requestHeaders: [], started: 0 },
  text: "",
  sent,
  members: [],
  body,
  model: "m",
  isStream: true,
});

/** Returns what a client reads of a stream in pieces. */
function relayed(target: LlmTarget, pieces: readonly Buffer[]): string {
  const relay = target.openStream(call, "m");
  const output: Uint8Array[] = [];
  for (const piece of pieces) {
    const step = relay.push(piece);
    expect(typeof step.state).toBe("string");
    output.push(...step.output.map((each) => Buffer.from(each)));
  }
  const last = relay.close();
  expect(last.state).toBe("ended");
  output.push(...last.output.map((each) => Buffer.from(each)));
  // When it was made, and ids of the gateway's own, differ from run to run.
  return Buffer.concat(output)
    .toString("utf8")
    .replaceAll(/"created(_at)?":\d+/g, "")
    .replaceAll(/[a-z]+[_-][0-9a-f-]{32,36}/g, "");
}

/** Matches a complete stream: anything after the finish may be cut off. */
const isWhole = new RegExp(
  [
    // Some servers of completions leave the mark of the end out.
    '"finish_reason":"tool_calls"',
    'message_stop"}\r?\n\r?\n',
    '"type":"response.completed".*\n\n',
    '"finishReason":"STOP".*\n\n',
    '"stopReason":"tool_use"}',
  ].join("|"),
);

function cut(stream: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % stream.length))].sort((a, b) => a - b);
  return [...ends, stream.length].map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
}

it.each(targets)("wherever a stream of %s is cut, the client reads the same", (_, target, text) => {
  const stream = Buffer.from(text);
  const whole = relayed(target, [stream]);
  expect(whole).toContain("世");
  expect(whole).toContain("Zürich");
  const places = fc.array(fc.nat(stream.length - 1), { maxLength: 40 });
  fc.assert(
    fc.property(places, (cuts) => {
      expect(relayed(target, cut(stream, cuts))).toBe(whole);
    }),
    { numRuns: RUNS },
  );
});

it.each(targets)("a stream of %s may come byte by byte", (_, target, text) => {
  const stream = Buffer.from(text);
  const bytes = Array.from(stream, (_byte, index) => stream.subarray(index, index + 1));
  expect(relayed(target, bytes)).toBe(relayed(target, [stream]));
});

it.each(targets)(
  "a stream of %s that is cut off is never taken for a whole one",
  (_, target, text) => {
    const stream = Buffer.from(text);
    for (let end = 0; end < stream.length; end++) {
      const relay = target.openStream(call, "m");
      const { state } = relay.push(stream.subarray(0, end));
      const last = state === "ended" ? state : relay.close().state;
      const read = stream.toString("utf8", 0, end);
      expect(
        isWhole.test(read) || typeof last === "object",
        `cut at ${end}: ${read.slice(-40)}`,
      ).toBe(true);
    }
  },
);
