/** The features that every pair of client and provider is tested with, whole and streamed. */
export const features = [
  "text",
  "tools",
  "parallel tools",
  "image",
  "image by address",
  "json schema",
  "reasoning",
  "error 400",
  "error 429",
  "error after 200",
  "EOF",
] as const;

export type Feature = (typeof features)[number];

/** One try: what a client of some format asks, and where. */
export interface Question {
  /** Of the gateway's route, without the path of an API. */
  readonly url: string;
  readonly model: string;
  readonly feature: Feature;
  readonly isStream: boolean;
  /** The client's words: the provider knows the try by them. */
  readonly prompt: string;
  /** The client's fetch, so that its bytes can be recorded. */
  readonly fetch: typeof fetch;
}

/** The parts of a response that a client has read in one turn. */
export interface Reading {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
}

/** A call of a tool. */
export interface Call {
  /** Given to it by its place among the others if it has none of its own. */
  readonly id?: string;
  readonly name: string;
  /** Of the tool, for clients of Responses that group their tools. */
  readonly namespace?: string;
  readonly input: unknown;
}

/** Asks through the client of a format: a turn each; where tools are called, their results are sent back. */
export type Ask = (question: Question) => Promise<readonly Reading[]>;

/** The texts of the system, the model and the tools. */
export const script = {
  system: "Be brief.",
  text: "Grüße, 世界 👋🏽",
  thought: "Rome is warmer.",
  signature: "c2lnbmVk",
  fault: "the model cannot do that",
  output: '{"degrees":18}',
  results: ["18 degrees", "25 degrees"],
} as const;

/** The calls of the model. */
export const calls: readonly Call[] = [
  { name: "get_weather", input: { city: "Zürich" } },
  { name: "get_weather", input: { city: "Rome" } },
];

/** The calls of a feature. */
export function callsOf(feature: Feature): readonly Call[] {
  switch (feature) {
    case "tools":
    case "reasoning":
      return calls.slice(0, 1);
    case "parallel tools":
      return calls;
    default:
      return [];
  }
}

/** Whether the results of the calls are sent back. */
export function hasResults(feature: Feature): boolean {
  return feature === "parallel tools" || feature === "reasoning";
}

/** Returns the model's message as it is sent back, without what an SDK has added. */
export function sentBack<Said>(said: Said): Said {
  const text = JSON.stringify(said, (name, value) =>
    name.startsWith("parsed") ? undefined : value,
  );
  return JSON.parse(text);
}

/** The tool that is offered. */
export const tool = {
  name: "get_weather",
  description: "Weather of a city",
  schema: {
    type: "object" as const,
    properties: { city: { type: "string" as const } },
    required: ["city"],
  },
};

/** A schema that the completion has to follow. */
export const outputSchema = {
  type: "object" as const,
  properties: { degrees: { type: "integer" as const } },
  required: ["degrees"],
  additionalProperties: false,
};

/** Returns the URL of the image for clients of OpenAI; `undefined` if the feature has no image. */
export function imageUrl(feature: Feature): string | undefined {
  if (feature === "image") return `data:image/png;base64,${pixel}`;
  return feature === "image by address" ? pictureUrl : undefined;
}

/** The URL of another picture. */
export const pictureUrl = "https://pictures.test/a.png";

/** The address of it in AWS's storage. */
export const storedPicture = "s3://pictures/a.png";

/** A picture of one pixel. */
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
