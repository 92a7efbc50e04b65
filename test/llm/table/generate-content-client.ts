import {
  type Content,
  type GenerateContentParameters,
  GoogleGenAI,
  type Part,
  Type,
} from "@google/genai";
import {
  type Ask,
  callsOf,
  type Feature,
  hasResults,
  pictureUrl,
  pixel,
  type Question,
  type Reading,
  script,
  tool,
} from "./features.ts";

/** Google's client of the Gemini API. */
export const askGenerateContent: Ask = async (question) => {
  const { url, model, feature } = question;
  const client = new GoogleGenAI({ apiKey: "client", httpOptions: { baseUrl: url } });
  const first: GenerateContentParameters = {
    model,
    contents: [{ role: "user", parts: partsOf(question) }],
    config: {
      systemInstruction: script.system,
      maxOutputTokens: 4000,
      httpOptions: { fetch: question.fetch } as object,
      ...optionsOf(feature),
    },
  };
  const said = await create(client, first, question);
  if (!hasResults(feature)) return [readingOf(said)];
  const results: Part[] = said.flatMap(({ functionCall: call }) =>
    call === undefined ? [] : [{ functionResponse: { id: call.id, name: call.name } } as Part],
  );
  for (const [index, { functionResponse: result }] of results.entries()) {
    if (result !== undefined) result.response = { output: script.results[index] };
  }
  const contents: Content[] = [
    { role: "user", parts: partsOf(question) },
    { role: "model", parts: [...said] },
    { role: "user", parts: results },
  ];
  const last = await create(client, { ...first, contents }, question);
  return [readingOf(said), readingOf(last)];
};

function partsOf({ prompt, feature }: Question): Part[] {
  const mimeType = "image/png";
  switch (feature) {
    case "image":
      return [{ text: prompt }, { inlineData: { mimeType, data: pixel } }];
    case "image by address":
      return [{ text: prompt }, { fileData: { mimeType, fileUri: pictureUrl } }];
    default:
      return [{ text: prompt }];
  }
}

function optionsOf(feature: Feature): GenerateContentParameters["config"] {
  const { name, description } = tool;
  const city = { type: Type.STRING };
  const parameters = { type: Type.OBJECT, properties: { city }, required: ["city"] };
  const declared = { name, description, parameters };
  const degrees = { type: Type.INTEGER };
  return {
    ...(callsOf(feature).length > 0 && { tools: [{ functionDeclarations: [declared] }] }),
    ...(feature === "json schema" && {
      responseMimeType: "application/json",
      responseSchema: { type: Type.OBJECT, properties: { degrees }, required: ["degrees"] },
    }),
    ...(feature === "reasoning" && {
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
    }),
  };
}

async function create(
  client: GoogleGenAI,
  request: GenerateContentParameters,
  { isStream }: Question,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  let finish: string | undefined;
  const responses = isStream
    ? await client.models.generateContentStream(request)
    : [await client.models.generateContent(request)];
  for await (const { candidates: [candidate] = [] } of responses) {
    parts.push(...(candidate?.content?.parts ?? []));
    finish = candidate?.finishReason ?? finish;
  }
  if (finish !== "STOP") throw new Error(`it stopped with ${finish}`);
  return parts;
}

function readingOf(parts: readonly Part[]): Reading {
  const textOf = (isThought: boolean) =>
    parts.map((part) => ((part.thought ?? false) === isThought ? (part.text ?? "") : "")).join("");
  return {
    text: textOf(false),
    reasoning: textOf(true),
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: call.name ?? "", input: call.args }],
    ),
  };
}
