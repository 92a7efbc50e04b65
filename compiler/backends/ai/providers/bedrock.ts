import { type Infer, object, shortText, text, validated } from "../../../schema/schema.ts";
import type { LlmEndpoint, LlmProvider } from "./provider.ts";

const model = shortText(
  "Model for every request, as a model id, an inference profile or an ARN; by default the one that the request names.",
);

const DEFAULT_REGION = "us-east-1";

const REGION = {
  maxLength: 63,
  pattern: "^[a-z0-9-]+$",
  form: "lower-case letters, digits and dashes",
};

const region = text("AWS region.", { ...REGION, default: DEFAULT_REGION });

/** Formats as in https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_GuardrailConfiguration.html. */
const guardrailIdentifier = (description: string) =>
  text(description, {
    maxLength: 2048,
    pattern: "^([a-z0-9]+|arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+)$",
    form: "a guardrail's id or its ARN",
  });

/** Description of the version of a guardrail. */
export const GUARDRAIL_VERSION = "Version of the guardrail: a number, or `DRAFT`.";

const guardrailVersion = text(GUARDRAIL_VERSION, {
  maxLength: 8,
  pattern: "^([1-9][0-9]{0,7}|DRAFT)$",
  form: "a number or `DRAFT`",
});

const schema = object(
  {
    model,
    region,
    guardrailIdentifier: guardrailIdentifier("Id or ARN of a guardrail for every request."),
    guardrailVersion,
  },
  {
    description:
      "Amazon Bedrock (Converse), with requests signed by `backendAuth.aws` or a Bedrock API key (`backendAuth.key`).",
    checks: [
      {
        message: '"guardrailIdentifier" and "guardrailVersion" require each other',
        holds: (value) =>
          (value.guardrailIdentifier === undefined) === (value.guardrailVersion === undefined),
        cel: "has(self.guardrailIdentifier) == has(self.guardrailVersion)",
      },
    ],
  },
);

/** Settings of Bedrock in manifests, without the model. */
export const bedrockSettings = {
  // No default in the schema: an API server would fill it in, and the warning about the assumed region would be
  // lost.
  region: text(`AWS region; ${DEFAULT_REGION} is assumed, with a warning.`, REGION),
  guardrail: object(
    { identifier: guardrailIdentifier("Id or ARN of the guardrail."), version: guardrailVersion },
    {
      required: ["identifier", "version"],
      description: "A guardrail for every request.",
    },
  ),
};

const manifestSchema = object({ model, ...bedrockSettings });

/** Amazon Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. */
export const bedrock: LlmProvider<"bedrock", Infer<typeof schema>> = {
  kind: "bedrock",
  fileKeys: [],
  system: "aws.bedrock",
  schema,
  ofModel: ({ model, awsRegion }) => ({
    ...(model !== undefined && { model }),
    ...(awsRegion !== undefined && { region: awsRegion }),
  }),
  ownParams: ["awsRegion"],
  kubernetes: {
    schema: manifestSchema,
    lower: (value) => {
      const { guardrail, ...options } = validated(manifestSchema, value);
      return {
        ...options,
        ...(guardrail && {
          guardrailIdentifier: guardrail.identifier,
          guardrailVersion: guardrail.version,
        }),
      };
    },
  },
  url: (options) => `https://bedrock-runtime.${regionOf(options)}.amazonaws.com`,
  endpoint: (type, options): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
      case "GenerateContent":
      case "Converse":
      case "Responses":
        return {
          format: "converse",
          path: "/model/{model}/converse",
          streamPath: "/model/{model}/converse-stream",
        };
      case "Embeddings":
      case "Rerank":
        return { format: "bedrockInvoke", path: "/model/{model}/invoke" };
      case "TokenCount":
        return countsTokens(options)
          ? { format: "bedrockCount", path: "/model/{model}/count-tokens" }
          : undefined;
      default:
        return undefined;
    }
  },
  credential: { kind: "bearer" },
  assumedRegion: ({ region: named }) => (named === undefined ? DEFAULT_REGION : undefined),
  aws: (options) => ({ region: regionOf(options), service: "bedrock" }),
  guardrail: ({ guardrailIdentifier: identifier, guardrailVersion: version }) =>
    identifier === undefined || version === undefined ? undefined : { identifier, version },
};

function regionOf({ region: configured }: Infer<typeof schema>): string {
  return configured ?? DEFAULT_REGION;
}

/** Whether the model supports counting tokens: only Claude does, and inference profiles with an ARN do not. */
function countsTokens({ model: fixed = "" }: Infer<typeof schema>): boolean {
  return /^(?:[a-z-]+\.)?anthropic\.claude-/.test(fixed);
}
