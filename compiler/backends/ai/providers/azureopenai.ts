import type { RouteType } from "../../../model/llm-policies.ts";
import { choice, type Infer, object, shortText, text } from "../../../schema/schema.ts";
import { needsField } from "../../../schema/value-checks.ts";
import { ANTHROPIC_VERSION } from "./anthropic-version.ts";
import { mediaApi } from "./media-apis.ts";
import { apiField, type ChatType, chatEndpoint } from "./openai-apis.ts";
import type { AzureResourceType, LlmEndpoint, LlmProvider } from "./provider.ts";

/** Returns the schema of the name of a resource. */
export function azureResourceNameSchema(description: string) {
  return text(description, {
    maxLength: 64,
    pattern: "^[A-Za-z0-9-]+$",
    form: "letters, digits and dashes",
  });
}

/** Returns the schema of the type of a resource. */
export function azureResourceTypeSchema(description: string) {
  return choice(
    `${description} \`foundry\` is Azure AI Foundry, which also serves Claude; \`openAI\` by default.`,
    ["openAI", "OpenAI", "foundry", "Foundry", "aiServices"] satisfies AzureResourceType[],
  );
}

/** Returns the schema of the project of a resource. */
export function azureProjectNameSchema() {
  return text("Project of Azure AI Foundry whose API is called; the resource's by default.", {
    maxLength: 128,
    pattern: "^[A-Za-z0-9._-]+$",
    form: 'letters, digits, ".", "_" and "-"',
  });
}

/** APIs for chats with models of OpenAI. */
const APIS = ["responses", "completions"] as const;

const apiVersion = text("API version: `v1`, `preview`, or a date (`2024-10-21`).", {
  maxLength: 64,
  pattern: "^[A-Za-z0-9.-]+$",
  form: "v1, preview or a date",
  default: "v1",
});

/** Settings of a resource of Azure in manifests, without the model. */
export const azureSettings = {
  resourceName: azureResourceNameSchema("Name of the resource."),
  resourceType: azureResourceTypeSchema("Type of the resource."),
  projectName: azureProjectNameSchema(),
  apiVersion,
};

const schema = object(
  {
    endpoint: shortText(
      "Host of the resource: `NAME.openai.azure.com`, or `NAME.services.ai.azure.com`, which also serves Claude.",
    ),
    host: shortText("Alias of `endpoint`.", { aliasOf: "endpoint" }),
    resourceName: azureResourceNameSchema("Name of the resource, instead of `endpoint`."),
    resourceType: azureResourceTypeSchema("Type of that resource."),
    projectName: azureProjectNameSchema(),
    deploymentName: shortText("Deployment for every request."),
    model: shortText(
      "Deployment for every request, if `deploymentName` is not set; by default the model that the request names.",
    ),
    apiVersion,
    api: apiField(APIS),
  },
  {
    exactlyOneOf: ["endpoint", "host", "resourceName"],
    atMostOneOf: ["deploymentName", "model"],
    description:
      "Azure OpenAI, with a key of the resource or a Microsoft Entra token (`backendAuth.azure`).",
    checks: [
      {
        message: '"apiVersion" other than v1 requires "deploymentName"',
        holds: ({ apiVersion = "v1", deploymentName, model, resourceName: name }) =>
          apiVersion === "v1" || [deploymentName, model, name].some((each) => each !== undefined),
        cel: "!has(self.apiVersion) || self.apiVersion == 'v1' || has(self.deploymentName) || has(self.model) || has(self.resourceName)",
      },
      needsField("resourceType", "resourceName"),
      needsField("projectName", "resourceName"),
      {
        message: '"projectName" requires resourceType: foundry',
        field: "projectName",
        holds: ({ projectName: name, resourceType: type }) =>
          name === undefined || isFoundryType(String(type)),
        cel: "!has(self.projectName) || (has(self.resourceType) && self.resourceType in ['foundry', 'Foundry', 'aiServices'])",
      },
    ],
  },
);

type Value = Infer<typeof schema>;

const AZURE_PARAMS = [
  "azureHost",
  "azureResourceName",
  "azureResourceType",
  "azureProjectName",
  "azureApiVersion",
] as const;

/** Azure OpenAI: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference. */
export const azureopenai: LlmProvider<"azureopenai", Value> = {
  kind: "azureopenai",
  fileKeys: ["azureOpenAI", "azure"],
  system: "azure.ai.openai",
  schema,
  ofModel: (params) => ({
    ...(params.azureHost !== undefined && { endpoint: params.azureHost }),
    ...(params.azureResourceName !== undefined && { resourceName: params.azureResourceName }),
    ...(params.azureResourceType !== undefined && { resourceType: params.azureResourceType }),
    ...(params.azureProjectName !== undefined && { projectName: params.azureProjectName }),
    ...(params.model !== undefined && { deploymentName: params.model }),
    ...(params.azureApiVersion !== undefined && { apiVersion: params.azureApiVersion }),
    ...(params.api !== undefined && params.api !== "messages" && { api: params.api }),
  }),
  ownParams: AZURE_PARAMS,
  neededParams: ["azureHost", "azureResourceName"],
  url: (options) => {
    const name = hostOf(options);
    return name.includes("://") ? name.replace(/\/+$/, "") : `https://${name}`;
  },
  endpoint: (type, options, isOwnServer): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
      case "GenerateContent":
      case "Converse":
      case "Responses":
        return withClaude(options, openaiEndpoint(type, options, isOwnServer));
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
      default: {
        const api = mediaApi(type);
        const isThere = api !== undefined && !ABSENT.has(api.type);
        return isThere ? { format: api.format, path: pathOf(api.path, options) } : undefined;
      }
    }
  },
  credential: { kind: "header", header: "api-key" },
  model: deploymentOf,
  takesApi: true,
  headers: (options) => (isFoundry(options) ? ANTHROPIC_VERSION : []),
};

/** Types of traffic without an API for models of OpenAI. */
const ABSENT: ReadonlySet<RouteType> = new Set([
  ...(["ImageVariations", "Rerank", "Moderations"] as const),
  ...(["MessageFiles", "MessageBatches"] as const),
]);

/** Whether the resource is of Azure AI Foundry, which also serves Claude, with Anthropic's API. */
function isFoundry(options: Value): boolean {
  return /\.services\.ai\.azure\.com\/*$/.test(hostOf(options));
}

function hostOf({
  endpoint,
  host = "",
  resourceName: name,
  resourceType: type = "openAI",
}: Value): string {
  if (name === undefined) return endpoint ?? host;
  return `${name}.${isFoundryType(type) ? "services.ai" : "openai"}.azure.com`;
}

function isFoundryType(type: string): boolean {
  return type === "aiServices" || type.toLowerCase() === "foundry";
}

/** Returns the endpoint of models of OpenAI. */
function openaiEndpoint(type: ChatType, options: Value, isOwnServer: boolean) {
  return chatEndpoint(type, {
    api: options.api,
    apis: APIS,
    isOwnServer,
    model: deploymentOf(options),
    pathOf: (api) => ({ path: pathOf(api === "completions" ? "chat/completions" : api, options) }),
  });
}

/** Adds Claude's endpoint. The path depends on the model, which is known if it is fixed. */
function withClaude(options: Value, others: LlmEndpoint | undefined): LlmEndpoint | undefined {
  const claude = { format: "messages", path: "/anthropic/v1/messages" } as const;
  if (!isFoundry(options) || others === undefined) return others;
  if (deploymentOf(options) !== undefined) return isClaude(options) ? claude : others;
  return { ...others, branches: [{ models: "^claude-", ...claude }, ...(others.branches ?? [])] };
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
function pathOf(
  api: string,
  { apiVersion = "v1", deploymentName, projectName: project }: Value,
): string {
  if (project !== undefined) return `/api/projects/${project}/openai/v1/${api}`;
  if (apiVersion === "v1") return `/openai/v1/${api}`;
  if (apiVersion === "preview") return `/openai/v1/${api}?api-version=preview`;
  const deployment = deploymentName === undefined ? "{model}" : encodeURIComponent(deploymentName);
  const isOfResource = ["responses", "files", "batches", "containers"].includes(api);
  const folder = isOfResource ? "" : `deployments/${deployment}/`;
  return `/openai/${folder}${api}?api-version=${apiVersion}`;
}
