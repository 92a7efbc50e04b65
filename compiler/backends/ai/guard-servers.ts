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
  choice,
  type Infer,
  integer,
  list,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import { lowerServer, serverFields, serverKeys, serverPolicies } from "../parts/callout-server.ts";
import { expressionsSchema, lowerExpressions } from "../parts/named-expressions.ts";
import { readConnection } from "../parts/read-connection.ts";
import { readValueMatch, valueMatchSchema } from "../parts/value-match.ts";

/** What `failureMode` is about, in both forms. */
export const GUARD_FAILURE =
  "What becomes of texts when the guard can't be asked: nothing passes (503), or all does.";

const failureMode = choice(GUARD_FAILURE, ["failClosed", "failOpen"], { default: "failClosed" });

/** What guards have that are services of a known maker. */
const serviceFields = {
  host: text("`host:port` or a URL of another server that speaks as the maker's own does.", {
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
      { exactlyOneOf: [...serverKeys], description: "Where the webhook is." },
    ),
    forwardHeaderMatches: list(valueMatchSchema, {
      maxItems: 16,
      description: "Headers of the client's request that the webhook gets, by their values.",
    }),
    headers: expressionsSchema(
      "Headers for the webhook that expressions make of the client's request, instead of forwarded ones of the same name; one that fails is left out. `:path`: where it is asked, instead of `/request` and `/response`.",
    ),
    failureMode,
  },
  {
    required: ["target"],
    examples: [{ target: { host: "127.0.0.1:8000" } }],
    description:
      "Asks a server: `POST /request` with the messages, `POST /response` with the choices. It passes, masks or rejects.",
  },
);

/** Which guardrail of Amazon Bedrock, in both forms. */
export const bedrockFields = {
  identifier: shortText("The guardrail: its id or its ARN."),
  version: shortText("Its version: a number, or `DRAFT`."),
  region: shortText("The region of AWS.", {
    pattern: "^[a-z0-9-]+$",
    form: "lower-case letters, digits and dashes",
  }),
};

/** What it says of itself, in both forms. */
export const BEDROCK_GUARDRAILS =
  "Applies a guardrail of Amazon Bedrock to texts, whoever the provider is.";

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

/** Where templates of Google Model Armor are unless they say it. */
export const DEFAULT_ARMOR_LOCATION = "us-central1";

/** Which template of Google Model Armor, in both forms. */
export const armorFields = {
  templateId: shortText("The template.", plainName),
  projectId: shortText("The project."),
  location: shortText("Where it is.", { ...plainName, default: DEFAULT_ARMOR_LOCATION }),
};

/** What it says of itself, in both forms. */
export const GOOGLE_MODEL_ARMOR =
  "Applies a template of Google Model Armor: what it finds is rejected.";

const googleModelArmor = object(
  { ...armorFields, ...serviceFields },
  { required: ["templateId", "projectId"], description: GOOGLE_MODEL_ARMOR },
);

/** `openAIModeration` of a file. */
export const moderationSchema = object(
  {
    model: shortText("The model that moderates.", { default: DEFAULT_MODERATION_MODEL }),
    ...serviceFields,
  },
  { description: "Asks OpenAI's moderation: what it flags is rejected." },
);

const apiVersion = text("The version of the API.", {
  maxLength: 64,
  pattern: "^[A-Za-z0-9.-]+$",
  form: "a date: `2024-09-01`",
  default: DEFAULT_SAFETY_VERSION,
});

/** Which resource of Azure AI Content Safety, and what it looks for in texts, in both forms. */
export const safetyFields = {
  endpoint: text(
    "The resource: `NAME.cognitiveservices.azure.com`, or a URL. Without a key a resource of Azure is asked with a token of whatever the gateway runs as.",
    { maxLength: 1024 },
  ),
  analyzeText: object(
    {
      severityThreshold: integer(
        "From which severity on a text is rejected: 2 is low, 4 medium, 6 high.",
        0,
        7,
        { default: DEFAULT_SEVERITY },
      ),
      blocklistNames: list(shortText("A list of the resource."), {
        maxItems: 64,
        description: "Lists of words: what is on one is rejected.",
      }),
      haltOnBlocklistHit: boolean("Whether a text that is on a list is looked at no further.", {
        default: false,
      }),
      apiVersion,
    },
    {
      description:
        "Looks for hate, sexual content, violence and self-harm; by default where nothing else is looked for.",
    },
  ),
};

/** What is looked for in prompts besides, in both forms. */
export const promptShield = {
  detectJailbreak: object(
    { apiVersion },
    { description: "Looks for prompts that attack the model (Prompt Shields)." },
  ),
};

const azureFields = { ...safetyFields, policies: serverPolicies, failureMode };

/** What it says of itself, in both forms: of responses, and of requests. */
export const CONTENT_SAFETY = "Asks Azure AI Content Safety: what is too severe is rejected.";
export const PROMPT_SAFETY =
  "Asks Azure AI Content Safety: what is too severe, or attacks the model, is rejected.";

/** `azureContentSafety` of responses. */
export const azureSchema = object(azureFields, {
  required: ["endpoint"],
  description: CONTENT_SAFETY,
});

/** The same of requests, which may attack the model too. */
export const azurePromptSchema = object(
  {
    ...azureFields,
    ...promptShield,
  },
  { required: ["endpoint"], description: PROMPT_SAFETY },
);

/** Guards of requests and responses that ask a server, by their names in a file. */
export const serverGuardSchemas = { webhook, bedrockGuardrails, googleModelArmor };

/** Their names. */
export const SERVER_GUARD_KINDS = [
  "webhook",
  "bedrockGuardrails",
  "googleModelArmor",
  "azureContentSafety",
] as const;

/** One of them, as validated; the others are not there. */
interface ServerGuardValue {
  readonly webhook?: Infer<typeof webhook>;
  readonly bedrockGuardrails?: Infer<typeof bedrockGuardrails>;
  readonly googleModelArmor?: Infer<typeof googleModelArmor>;
  readonly azureContentSafety?: Infer<typeof azurePromptSchema>;
  readonly openAIModeration?: Infer<typeof moderationSchema>;
  readonly externalModeration?: Infer<typeof moderationSchema>;
}

type OwnPart<Config> = Omit<Config, "rejection" | "rejectionOrigin" | "scope">;

/** The canonical form of a guard that asks a server, but for what every guard has. */
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

/** What a resource of Azure AI Content Safety looks for: severe texts unless something else is said. */
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

/** A resource is reached by TLS unless it is a URL that says otherwise. */
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
