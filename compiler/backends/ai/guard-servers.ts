import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  type AzureGuardConfig,
  type BedrockGuardConfig,
  DEFAULT_MODERATION_MODEL,
  DEFAULT_SAFETY_VERSION,
  DEFAULT_SEVERITY,
  type ModelArmorGuardConfig,
  type ModerationGuardConfig,
  type ServerGuardConfig,
  type WebhookGuardConfig,
} from "../../model/prompt-guards.ts";
import {
  boolean,
  type Infer,
  integer,
  list,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import { wordsOfForms } from "../../schema/two-forms.ts";
import { lowerServer, serverFields, serverPolicies } from "../parts/callout-server.ts";
import { expressionsSchema, lowerExpressions } from "../parts/named-expressions.ts";
import { readConnection } from "../parts/read-connection.ts";
import { serverKeys } from "../parts/server-name.ts";
import { readValueMatch, valueMatchSchema } from "../parts/value-match.ts";
import { MODERATION } from "./guard-fields.ts";
import { GUARDRAIL_VERSION } from "./providers/bedrock.ts";

/** Schemas of `failureMode`. */
export const guardFailureMode = wordsOfForms(
  "Outcome if the guard fails: requests are refused with 503, or content passes unchecked.",
  ["failClosed", "failOpen"],
  "failClosed",
);

const failureMode = guardFailureMode.file;

/** Fields of guards that call a well-known service. */
const serviceFields = {
  host: text("Another server with the same API: `host:port` or a URL.", {
    readAtStart: true,
  }),
  policies: serverPolicies,
  failureMode,
};

const plainName = { pattern: "^[A-Za-z0-9_-]+$", form: "letters, digits, `-` and `_`" };

const webhook = object(
  {
    target: object(
      { ...serverFields, policies: serverPolicies },
      { exactlyOneOf: [...serverKeys], description: "Server of the webhook." },
    ),
    forwardHeaderMatches: list(valueMatchSchema, {
      maxItems: 16,
      description:
        "Headers of the client's request that are forwarded to the webhook if their values match.",
    }),
    headers: expressionsSchema(
      "Headers computed from the client's request, also from `llmRequest` on routes to models, and sent to the webhook, replacing forwarded ones of the same name; one whose expression fails is omitted. `:path` replaces `/request` and `/response`.",
    ),
    failureMode,
  },
  {
    required: ["target"],
    examples: [{ target: { host: "127.0.0.1:8000" } }],
    description:
      "Calls a server with `POST /request` and the messages, or `POST /response` and the choices. The server passes, masks or rejects them.",
  },
);

/** Identification of an Amazon Bedrock guardrail, in both forms. */
export const bedrockFields = {
  identifier: shortText("Id or ARN of the guardrail."),
  version: shortText(GUARDRAIL_VERSION),
  region: shortText("AWS region.", {
    pattern: "^[a-z0-9-]+$",
    form: "lower-case letters, digits and dashes",
  }),
};

/** Description of `bedrockGuardrails`, in both forms. */
export const BEDROCK_GUARDRAILS = "Applies an Amazon Bedrock guardrail, with any provider.";

const bedrockGuardrails = object(
  {
    guardrailIdentifier: bedrockFields.identifier,
    guardrailVersion: bedrockFields.version,
    region: bedrockFields.region,
    ...serviceFields,
  },
  {
    required: ["guardrailIdentifier", "guardrailVersion", "region"],
    description: BEDROCK_GUARDRAILS,
  },
);

/** Default location of Google Model Armor templates. */
export const DEFAULT_ARMOR_LOCATION = "us-central1";

/** Identification of a Google Model Armor template, in both forms. */
export const armorFields = {
  templateId: shortText("Id of the template.", plainName),
  projectId: shortText("Google Cloud project."),
  location: shortText("Location of the template.", {
    ...plainName,
    default: DEFAULT_ARMOR_LOCATION,
  }),
};

/** Description of `googleModelArmor`, in both forms. */
export const GOOGLE_MODEL_ARMOR =
  "Applies a Google Model Armor template: content that it matches is rejected.";

const googleModelArmor = object(
  { ...armorFields, ...serviceFields },
  { required: ["templateId", "projectId"], description: GOOGLE_MODEL_ARMOR },
);

/** Schema of `openAIModeration` in a file. */
export const moderationSchema = object(
  {
    model: shortText("The moderation model.", { default: DEFAULT_MODERATION_MODEL }),
    ...serviceFields,
  },
  { description: MODERATION },
);

const apiVersion = text("API version.", {
  maxLength: 64,
  pattern: "^[A-Za-z0-9.-]+$",
  form: "a date: `2024-09-01`",
  default: DEFAULT_SAFETY_VERSION,
});

/** Resource of Azure AI Content Safety and its checks, in both forms. */
export const safetyFields = {
  endpoint: text(
    "The resource: `NAME.cognitiveservices.azure.com`, or a URL. Without a key, calls to Azure use a token of the gateway's own Azure identity.",
    { maxLength: 1024 },
  ),
  analyzeText: object(
    {
      severityThreshold: integer(
        "Minimum severity of rejected content: 2 is low, 4 medium, 6 high.",
        0,
        7,
        { default: DEFAULT_SEVERITY },
      ),
      blocklistNames: list(shortText("Name of a blocklist."), {
        maxItems: 64,
        description: "Blocklists of the resource: content with an entry of one is rejected.",
      }),
      haltOnBlocklistHit: boolean("Whether to skip further analysis after a blocklist match.", {
        default: false,
      }),
      apiVersion,
    },
    {
      description:
        "Detects hate, sexual content, violence and self-harm; the default if no other check is configured.",
    },
  ),
};

/** Additional check of prompts, in both forms. */
export const promptShield = {
  detectJailbreak: object(
    { apiVersion },
    { description: "Detects prompts that attack the model (Prompt Shields)." },
  ),
};

const azureFields = { ...safetyFields, policies: serverPolicies, failureMode };

/** Description of `azureContentSafety` for responses, in both forms. */
export const CONTENT_SAFETY =
  "Calls Azure AI Content Safety: content above the severity threshold is rejected.";

/** Description of `azureContentSafety` for requests, in both forms. */
export const PROMPT_SAFETY =
  "Calls Azure AI Content Safety: content above the severity threshold, or that attacks the model, is rejected.";

/** Schema of `azureContentSafety` for responses. */
export const azureSchema = object(azureFields, {
  required: ["endpoint"],
  description: CONTENT_SAFETY,
});

/** Schema of `azureContentSafety` for requests, which may also attack the model. */
export const azurePromptSchema = object(
  {
    ...azureFields,
    ...promptShield,
  },
  { required: ["endpoint"], description: PROMPT_SAFETY },
);

/** Schemas of guards that call a server, by name in a file. */
export const serverGuardSchemas = { webhook, bedrockGuardrails, googleModelArmor };

/** A validated guard, of which exactly one field is set. */
interface ServerGuardValue {
  readonly webhook?: Infer<typeof webhook>;
  readonly bedrockGuardrails?: Infer<typeof bedrockGuardrails>;
  readonly googleModelArmor?: Infer<typeof googleModelArmor>;
  readonly azureContentSafety?: Infer<typeof azurePromptSchema>;
  readonly openAIModeration?: Infer<typeof moderationSchema>;
  readonly externalModeration?: Infer<typeof moderationSchema>;
}

type OwnPart<Config> = Omit<Config, "rejection" | "rejectionOrigin" | "scope">;

/** Converts a guard that calls a server to canonical form, without the fields common to all guards. */
export function lowerServerGuard(
  {
    webhook: hook,
    bedrockGuardrails: bedrock,
    googleModelArmor: armor,
    azureContentSafety: azure,
    openAIModeration,
    externalModeration,
  }: ServerGuardValue,
  origin: Origin,
):
  | OwnPart<WebhookGuardConfig>
  | OwnPart<ModerationGuardConfig>
  | OwnPart<BedrockGuardConfig>
  | OwnPart<ModelArmorGuardConfig>
  | OwnPart<AzureGuardConfig> {
  if (hook !== undefined) return lowerWebhook(hook, childOf(origin, "webhook"));
  if (bedrock !== undefined) {
    const at = childOf(origin, "bedrockGuardrails");
    const { guardrailIdentifier: identifier, guardrailVersion: version, region } = bedrock;
    const own = { identifier, version, region };
    return { kind: "bedrockGuardrails", ...own, ...lowerService(bedrock, at) };
  }
  if (armor !== undefined) {
    const at = childOf(origin, "googleModelArmor");
    const { templateId: template, projectId: project, location = DEFAULT_ARMOR_LOCATION } = armor;
    const own = { template, project, location };
    return { kind: "googleModelArmor", ...own, ...lowerService(armor, at) };
  }
  if (azure !== undefined) return lowerAzure(azure, childOf(origin, "azureContentSafety"));
  const { model = DEFAULT_MODERATION_MODEL, ...service } =
    openAIModeration ?? externalModeration ?? {};
  const name = openAIModeration === undefined ? "externalModeration" : "openAIModeration";
  const at = childOf(origin, name);
  return { kind: "openAIModeration", model, ...lowerService(service, at) };
}

function lowerWebhook(
  { target, forwardHeaderMatches = [], headers, failureMode: mode }: Infer<typeof webhook>,
  origin: Origin,
): OwnPart<WebhookGuardConfig> {
  return {
    kind: "webhook",
    server: lowerServer(target, childOf(origin, "target")),
    forwardHeaders: forwardHeaderMatches.map((each, index) =>
      readValueMatch(
        { ...each, name: each.name.toLowerCase() },
        childOf(origin, "forwardHeaderMatches", index),
      ),
    ),
    headers: lowerExpressions(headers, childOf(origin, "headers")),
    passesOnFailure: mode === "failOpen",
    origin,
  };
}

function lowerAzure(
  { endpoint, analyzeText, detectJailbreak, ...service }: Infer<typeof azurePromptSchema>,
  origin: Origin,
): OwnPart<AzureGuardConfig> {
  return {
    kind: "azureContentSafety",
    ...safetyChecks({ analyzeText, detectJailbreak }),
    ...lowerService({ ...service, host: secureHost(endpoint) }, origin),
    hostOrigin: childOf(origin, "endpoint"),
  };
}

/** Returns the checks of an Azure AI Content Safety resource: severity analysis unless only others are configured. */
export function safetyChecks({
  analyzeText,
  detectJailbreak,
}: {
  readonly [Part in "analyzeText" | "detectJailbreak"]:
    | Infer<typeof azurePromptSchema>[Part]
    | undefined;
}): Pick<AzureGuardConfig, "analysis" | "shieldVersion"> {
  const isAnalyzed = analyzeText !== undefined || detectJailbreak === undefined;
  const version = (given: string | undefined) => given ?? DEFAULT_SAFETY_VERSION;
  return {
    analysis: isAnalyzed
      ? {
          apiVersion: version(analyzeText?.apiVersion),
          severity: analyzeText?.severityThreshold ?? DEFAULT_SEVERITY,
          blocklistNames: analyzeText?.blocklistNames ?? [],
          haltOnBlocklistHit: analyzeText?.haltOnBlocklistHit ?? false,
        }
      : undefined,
    shieldVersion: detectJailbreak && version(detectJailbreak.apiVersion),
  };
}

/** Adds `https://` to an endpoint without a scheme. */
export function secureHost(endpoint: string): string {
  return endpoint.includes("://") ? endpoint : `https://${endpoint}`;
}

type ServiceValue = Pick<Infer<typeof moderationSchema>, "host" | "policies" | "failureMode">;

function lowerService({ host, policies, failureMode: mode }: ServiceValue, origin: Origin) {
  return {
    host,
    hostOrigin: childOf(origin, "host"),
    policies: policies && readConnection(policies, childOf(origin, "policies")),
    passesOnFailure: mode === "failOpen",
    origin,
  } satisfies Partial<ServerGuardConfig>;
}
