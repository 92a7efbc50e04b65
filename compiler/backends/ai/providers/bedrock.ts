import { type Infer, object, shortText, text, validated } from "../../../schema/schema.ts";
import type { LlmEndpoint, LlmProvider } from "./provider.ts";

const model = shortText(
  "The model of every request: its id, an inference profile or an ARN; the one that the request names by default.",
);

const DEFAULT_REGION = "us-east-1";

const REGION = {
  maxLength: 63,
  pattern: "^[a-z0-9-]+$",
  form: "lower-case letters, digits and dashes",
};

const region = text("The region.", { ...REGION, default: DEFAULT_REGION });

/** Both as https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_GuardrailConfiguration.html has them. */
const guardrailIdentifier = (description: string) =>
  text(description, {
    maxLength: 2048,
    pattern: "^([a-z0-9]+|arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+)$",
    form: "a guardrail's id or its ARN",
  });

const guardrailVersion = text("Its version: a number, or `DRAFT`.", {
  maxLength: 8,
  pattern: "^([1-9][0-9]{0,7}|DRAFT)$",
  form: "a number or `DRAFT`",
});

const schema = object(
  {
    model,
    region,
    guardrailIdentifier: guardrailIdentifier("A guardrail that every request passes."),
    guardrailVersion,
  },
  {
    description:
      "Amazon Bedrock (Converse): signed with `backendAuth.aws`, or with an API key of Bedrock (`backendAuth.key`).",
    checks: [
      {
        message: '"guardrailIdentifier" and "guardrailVersion" come together',
        holds: (value) =>
          (value.guardrailIdentifier === undefined) === (value.guardrailVersion === undefined),
        cel: "has(self.guardrailIdentifier) == has(self.guardrailVersion)",
      },
    ],
  },
);

const manifestSchema = object({
  model,
  // No default in the schema: an API server would write it, and nobody would be told that it is assumed.
  region: text(`The region; ${DEFAULT_REGION} is assumed, with a warning.`, REGION),
  guardrail: object(
    { identifier: guardrailIdentifier("Its id or ARN."), version: guardrailVersion },
    {
      required: ["identifier", "version"],
      description: "A guardrail that every request passes.",
    },
  ),
});

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
      case "Responses":
        return {
          format: "converse",
          path: "/model/{model}/converse",
          streamPath: "/model/{model}/converse-stream",
        };
      case "Embeddings":
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

/** Claude's alone are counted, and those of profiles that have an ARN are not. */
function countsTokens({ model: fixed = "" }: Infer<typeof schema>): boolean {
  return /^(?:[a-z-]+\.)?anthropic\.claude-/.test(fixed);
}
