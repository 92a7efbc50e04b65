import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  type BedrockGuardConfig,
  DEFAULT_MODERATION_MODEL,
  type ModelArmorGuardConfig,
  type ModerationGuardConfig,
  type ServerGuardConfig,
  type WebhookGuardConfig,
} from "../../model/prompt-guards.ts";
import { choice, type Infer, list, object, shortText, text } from "../../schema/schema.ts";
import { lowerServer, serverFields, serverKeys, serverPolicies } from "../parts/callout-server.ts";
import { expressionsSchema, lowerExpressions } from "../parts/named-expressions.ts";
import { readConnection } from "../parts/read-connection.ts";
import { readValueMatch, valueMatchSchema } from "../parts/value-match.ts";

const failureMode = choice(
  "What becomes of texts when the guard can't be asked: nothing passes (503), or all does.",
  ["failClosed", "failOpen"],
  { default: "failClosed" },
);

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
    description:
      "Asks a server: `POST /request` with the messages, `POST /response` with the choices. It passes, masks or rejects.",
  },
);

const bedrockGuardrails = object(
  {
    guardrailIdentifier: shortText("The guardrail: its id or its ARN."),
    guardrailVersion: shortText("Its version: a number, or `DRAFT`."),
    region: shortText("The region of AWS.", {
      pattern: "^[a-z0-9-]+$",
      form: "lower-case letters, digits and dashes",
    }),
    ...serviceFields,
  },
  {
    required: ["guardrailIdentifier", "guardrailVersion", "region"],
    description: "Applies a guardrail of Amazon Bedrock to texts, whoever the provider is.",
  },
);

const googleModelArmor = object(
  {
    templateId: shortText("The template.", plainName),
    projectId: shortText("The project."),
    location: shortText("Where it is.", { ...plainName, default: "us-central1" }),
    ...serviceFields,
  },
  {
    required: ["templateId", "projectId"],
    description: "Applies a template of Google Model Armor: what it finds is rejected.",
  },
);

/** `openAIModeration` of a file. */
export const moderationSchema = object(
  {
    model: shortText("The model that moderates.", { default: DEFAULT_MODERATION_MODEL }),
    ...serviceFields,
  },
  { description: "Asks OpenAI's moderation: what it flags is rejected." },
);

/** Guards of requests and responses that ask a server, by their names in a file. */
export const serverGuardSchemas = { webhook, bedrockGuardrails, googleModelArmor };

/** Their names. */
export const serverGuardKinds = ["webhook", "bedrockGuardrails", "googleModelArmor"] as const;

/** One of them, as validated; the others are not there. */
interface ServerGuardValue {
  readonly webhook?: Infer<typeof webhook>;
  readonly bedrockGuardrails?: Infer<typeof bedrockGuardrails>;
  readonly googleModelArmor?: Infer<typeof googleModelArmor>;
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
    openAIModeration,
    externalModeration,
  }: ServerGuardValue,
  origin: Origin,
):
  | OwnPart<WebhookGuardConfig>
  | OwnPart<ModerationGuardConfig>
  | OwnPart<BedrockGuardConfig>
  | OwnPart<ModelArmorGuardConfig> {
  if (hook !== undefined) return lowerWebhook(hook, childOf(origin, "webhook"));
  if (bedrock !== undefined) {
    const at = childOf(origin, "bedrockGuardrails");
    const { guardrailIdentifier: identifier, guardrailVersion: version, region } = bedrock;
    const own = { identifier, version, region };
    return { kind: "bedrockGuardrails", ...own, ...lowerService(bedrock, at) };
  }
  if (armor !== undefined) {
    const at = childOf(origin, "googleModelArmor");
    const { templateId: template, projectId: project, location = "us-central1" } = armor;
    const own = { template, project, location };
    return { kind: "googleModelArmor", ...own, ...lowerService(armor, at) };
  }
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
