import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../model/connections.ts";
import { forwardUrl, secureUrl } from "../model/host-url.ts";
import type { Text } from "../model/texts.ts";
import { NAMED_SERVER } from "../model/traffic.ts";
import { type Infer, object, shortText, text } from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import { AMBIENT_AWS } from "./parts/ambient-credentials.ts";
import { resolveConnection, withAmbient } from "./parts/connection.ts";
import { curlCommand } from "./parts/try-request.ts";

/** `aws` as configured: an agent in AgentCore. */
interface AwsConfig {
  /** ARN of the agent's runtime. */
  readonly arn: string;
  /** Endpoint or version of the runtime; `undefined` for its default endpoint. */
  readonly qualifier: string | undefined;
  /** Another server; `undefined` for AWS's own in the ARN's region. */
  readonly host: Text | undefined;
}

/** `aws` resolved: an agent in AgentCore. */
interface AwsNode {
  readonly kind: "aws";
  readonly url: Text;
  readonly connection: BackendConnection;
  /** Path and query of every request. */
  readonly target: string;
  readonly origin: Origin;
}

const schema = object(
  {
    agentCore: object(
      {
        agentRuntimeArn: shortText("ARN of the agent's runtime.", {
          maxLength: 2048,
          pattern:
            "^arn:aws(-[a-z]+)*:bedrock-agentcore:[a-z]{2}(-[a-z]+)+-[0-9]:[0-9]{1,12}:runtime/[A-Za-z0-9_/-]+$",
          form: "arn:aws:bedrock-agentcore:REGION:ACCOUNT:runtime/ID",
          examples: ["arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-4rLvS1BRqq"],
        }),
        qualifier: shortText("Endpoint or version of the runtime; its default endpoint if unset.", {
          pattern: "^[A-Za-z0-9_-]+$",
          form: "letters, digits, `_` and `-`",
        }),
        host: text(
          "Another address of AgentCore, such as an interface endpoint of a VPC: `host:port` or a URL.",
          { readAtStart: true },
        ),
      },
      {
        required: ["agentRuntimeArn"],
        description:
          "An agent in Amazon Bedrock AgentCore. Every request invokes it (`/runtimes/ARN/invocations`), signed with the gateway's own AWS credentials unless `backendAuth` sets others.",
      },
    ),
  },
  { required: ["agentCore"], description: "An AWS service." },
);

/** Backend for an AWS service with its own invocation API: an agent in Amazon Bedrock AgentCore. */
export const aws: Backend<
  "aws",
  Infer<typeof schema>,
  AwsConfig,
  AwsNode,
  never,
  Infer<typeof schema>
> = {
  kind: "aws",
  summary: "invokes an agent in Amazon Bedrock AgentCore, with signed requests",
  schema: () => schema,
  isNameable: true,
  lower,
  kubernetes: {
    field: "aws",
    schema: () => schema,
    lower: (value) => ({ config: lower(value), sections: new Map() }),
  },
  protocol: "http",
  carries: () => [{ traffic: ["forwards", ...NAMED_SERVER] }],
  names: ["upstream"],
  resolve: ({ config: { arn, qualifier, host }, policies = {}, origin }, context) => {
    const [, partition, , region = ""] = arn.split(":");
    const domain = partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
    const at = childOf(origin, "agentCore", "host");
    const url =
      host === undefined
        ? `https://bedrock-agentcore.${region}.${domain}`
        : forwardUrl(host, at, context.diagnostics);
    const auth = withAmbient(policies.auth, AMBIENT_AWS, origin);
    const scope = { region, service: "bedrock-agentcore" };
    const connection = resolveConnection({ ...policies, ...(auth && { auth }) }, context, scope);
    if (url === undefined) return undefined;
    const query = qualifier === undefined ? "" : `?qualifier=${qualifier}`;
    const target = `/runtimes/${encodeURIComponent(arn)}/invocations${query}`;
    return { kind: "aws", url: secureUrl(url, connection), connection, target, origin };
  },
  passesToken: ({ connection }) => connection.isPassthrough,
  describe: ({ url }) => [{ address: url }],
  tryCommand: (request) => curlCommand(request),
};

function lower({ agentCore }: Infer<typeof schema>): AwsConfig {
  const { agentRuntimeArn: arn, qualifier, host } = agentCore;
  return { arn, qualifier, host };
}
