import { type Infer, object, shortText, text, validated } from "../../../schema/schema.ts";
import type { LlmEndpoint, LlmProvider } from "./provider.ts";

const model = shortText(
  "The model of every request: its id, an inference profile or an ARN; the one that the request names by default.",
);

const DEFAULT_REGION = "us-east-1";

const region = text("The region.", {
  maxLength: 63,
  pattern: "^[a-z0-9-]+$",
  form: "lower-case letters, digits and dashes",
  default: DEFAULT_REGION,
});

const schema = object(
  {
    model,
    region,
    guardrailIdentifier: shortText("A guardrail that every request passes."),
    guardrailVersion: shortText("Its version: a number, or `DRAFT`."),
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
  region,
  guardrail: object(
    { identifier: shortText("Its identifier."), version: shortText("Its version.") },
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
  endpoint: (type): LlmEndpoint | undefined => {
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
