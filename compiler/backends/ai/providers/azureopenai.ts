import { type Infer, object, shortText, text } from "../../../schema/schema.ts";
import { ANTHROPIC_VERSION } from "./anthropic-version.ts";
import type { LlmEndpoint, LlmProvider } from "./provider.ts";

const schema = object(
  {
    endpoint: shortText(
      "Host of the resource: `NAME.openai.azure.com`, or `NAME.services.ai.azure.com`, which also serves Claude.",
    ),
    host: shortText("Alias of `endpoint`.", { aliasOf: "endpoint" }),
    deploymentName: shortText("Deployment for every request."),
    model: shortText(
      "Deployment for every request, if `deploymentName` is not set; by default the model that the request names.",
    ),
    apiVersion: text("API version: `v1`, `preview`, or a date (`2024-10-21`).", {
      maxLength: 64,
      pattern: "^[A-Za-z0-9.-]+$",
      form: "v1, preview or a date",
      default: "v1",
    }),
  },
  {
    exactlyOneOf: ["endpoint", "host"],
    atMostOneOf: ["deploymentName", "model"],
    description:
      "Azure OpenAI, with a key of the resource or a Microsoft Entra token (`backendAuth.azure`).",
    checks: [
      {
        message: '"apiVersion" other than v1 requires "deploymentName"',
        holds: ({ apiVersion = "v1", deploymentName }) =>
          apiVersion === "v1" || deploymentName !== undefined,
        cel: "!has(self.apiVersion) || self.apiVersion == 'v1' || has(self.deploymentName)",
      },
    ],
  },
);

type Value = Infer<typeof schema>;

/** Azure OpenAI: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference. */
export const azureopenai: LlmProvider<"azureopenai", Value> = {
  kind: "azureopenai",
  fileKeys: ["azureOpenAI", "azure"],
  system: "azure.ai.openai",
  schema,
  ofModel: ({ model, azureHost, azureResourceName, azureApiVersion }) => ({
    endpoint: azureHost ?? `${azureResourceName}.openai.azure.com`,
    ...(model !== undefined && { deploymentName: model }),
    ...(azureApiVersion !== undefined && { apiVersion: azureApiVersion }),
  }),
  ownParams: ["azureHost", "azureResourceName", "azureApiVersion"],
  neededParams: ["azureHost", "azureResourceName"],
  url: ({ endpoint, host = "" }) => {
    const name = endpoint ?? host;
    return name.includes("://") ? name.replace(/\/+$/, "") : `https://${name}`;
  },
  endpoint: (type, options): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
        return withClaude(options, {
          format: "completions",
          path: pathOf("chat/completions", options),
        });
      case "Responses":
        return withClaude(options, { format: "responses", path: pathOf("responses", options) });
      case "TokenCount":
        return isClaude(options)
          ? { format: "tokenCount", path: "/anthropic/v1/messages/count_tokens" }
          : undefined;
      case "Embeddings":
        return { format: "embeddings", path: pathOf("embeddings", options) };
      case "Realtime":
        // Dated versions name the deployment differently and use an older protocol.
        return (options.apiVersion ?? "v1") === "v1"
          ? { format: "realtime", path: pathOf("realtime", options) }
          : undefined;
      default:
        return undefined;
    }
  },
  credential: { kind: "header", header: "api-key" },
  model: deploymentOf,
  headers: (options) => (isFoundry(options) ? ANTHROPIC_VERSION : []),
};

/** Whether the resource is of Azure AI Foundry, which also serves Claude, with Anthropic's API. */
function isFoundry({ endpoint, host = "" }: Value): boolean {
  return /\.services\.ai\.azure\.com\/*$/.test(endpoint ?? host);
}

/** Adds Claude's endpoint. The path depends on the model, which is known if it is fixed. */
function withClaude(options: Value, others: LlmEndpoint): LlmEndpoint {
  const claude = { format: "messages", path: "/anthropic/v1/messages" } as const;
  if (!isFoundry(options)) return others;
  if (deploymentOf(options) !== undefined) return isClaude(options) ? claude : others;
  return { ...others, branches: [{ prefix: "claude-", ...claude }] };
}

function isClaude(options: Value): boolean {
  return isFoundry(options) && deploymentOf(options)?.startsWith("claude-") === true;
}

function deploymentOf({ deploymentName, model }: Value): string | undefined {
  return deploymentName ?? model;
}

/**
 * Returns the path of an API. In dated versions every API except `responses` has a path per deployment, which
 * clients name if it is not fixed.
 */
function pathOf(api: string, { apiVersion = "v1", deploymentName }: Value): string {
  if (apiVersion === "v1") return `/openai/v1/${api}`;
  if (apiVersion === "preview") return `/openai/v1/${api}?api-version=preview`;
  const deployment = deploymentName === undefined ? "{model}" : encodeURIComponent(deploymentName);
  const folder = api === "responses" ? "" : `deployments/${deployment}/`;
  return `/openai/${folder}${api}?api-version=${apiVersion}`;
}
