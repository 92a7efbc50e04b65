import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { GenerateContentPiece } from "../../harness/generate-content.ts";
import {
  callsOf,
  type Feature,
  pictureUrl,
  pixel,
  type Reading,
  script,
  tool,
} from "./features.ts";
import { dataEvents, type Upstream } from "./upstream.ts";

/** Google's generateContent, of the Gemini API and of Vertex AI. */
export const generateContentUpstream: Upstream = {
  streamType: "text/event-stream",
  whole: (said) => JSON.stringify(piece(parts(said), "STOP")),
  events: (said) => {
    const all = parts(said);
    const events = dataEvents([...all.map((part) => piece([part])), piece([{ text: "" }], "STOP")]);
    // As Google ends lines, which its client for JavaScript relies on.
    return events.map((event) => event.replaceAll("\n", "\r\n"));
  },
  endings: 1,
  error: (status) => ({ body: JSON.stringify({ error: errorOf(status) }) }),
  errorEvent: `data: ${JSON.stringify({ error: errorOf(503) })}\r\n\r\n`,
  asked,
  replayed: (feature) => ({
    contents: [
      expect.anything(),
      {
        role: "model",
        // Only clients of this API send thoughts back. Their signatures are part of the calls.
        parts: expect.toSatisfy((sent: readonly { thought?: boolean; text?: string }[]) =>
          isDeepStrictEqual(
            sent.filter(({ thought, text }) => thought !== true && text !== ""),
            parts({ text: "", reasoning: "", calls: callsOf(feature) }),
          ),
        ),
      },
      {
        role: "user",
        parts: callsOf(feature).map(({ name }, index) => ({
          functionResponse: { name, response: { output: script.results[index] } },
        })),
      },
    ],
  }),
};

function parts({ text, reasoning, calls }: Reading): object[] {
  const half = Math.ceil(text.length / 3);
  return [
    ...(reasoning === "" ? [] : [{ text: reasoning, thought: true }]),
    ...(text === "" ? [] : [{ text: text.slice(0, half) }, { text: text.slice(half) }]),
    ...calls.map(({ name, input: args }, index) => ({
      functionCall: { name, args },
      // The first of several calls is signed.
      ...(index === 0 && { thoughtSignature: script.signature }),
    })),
  ];
}

function piece(all: object[], finishReason?: string): GenerateContentPiece {
  const content = { role: "model", parts: all };
  const counts = { promptTokenCount: 9, candidatesTokenCount: 7, totalTokenCount: 16 };
  const candidate = { content, index: 0, ...(finishReason && { finishReason }) };
  return {
    responseId: "r-1",
    modelVersion: "model-1",
    candidates: [candidate as NonNullable<GenerateContentPiece["candidates"]>[number]],
    usageMetadata: counts,
  };
}

function errorOf(code: number): object {
  const words: Readonly<Record<number, string>> = {
    400: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
  };
  return { code, message: script.fault, status: words[code] ?? "UNAVAILABLE" };
}

function asked(feature: Feature): object {
  const { name, description } = tool;
  const parameters = {
    type: "OBJECT",
    properties: { city: { type: "STRING" } },
    required: ["city"],
  };
  const responseSchema = {
    type: "OBJECT",
    properties: { degrees: { type: "INTEGER" } },
    required: ["degrees"],
  };
  const fileData = { mimeType: "image/png", fileUri: pictureUrl };
  const inlineData = { mimeType: "image/png", data: pixel };
  return {
    systemInstruction: { parts: [{ text: script.system }] },
    contents: [
      {
        role: "user",
        parts: [
          { text: expect.stringContaining(feature) },
          ...(feature === "image" ? [{ inlineData }] : []),
          // Of clients of this API only.
          ...(feature === "image by address" ? [{ fileData }] : []),
        ],
      },
    ],
    generationConfig: {
      maxOutputTokens: 4000,
      ...(feature === "json schema" && { responseMimeType: "application/json", responseSchema }),
      ...(feature === "reasoning" && {
        thinkingConfig: expect.objectContaining({ includeThoughts: true }),
      }),
    },
    ...(callsOf(feature).length > 0 && {
      tools: [{ functionDeclarations: [{ name, description, parameters }] }],
    }),
  };
}
