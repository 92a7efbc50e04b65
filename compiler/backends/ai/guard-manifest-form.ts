import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { backendReference, headerName } from "../../manifests/field-types.ts";
import type { PolicyFields } from "../../manifests/policy.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import {
  DEFAULT_GUARD_WINDOW,
  DEFAULT_MODERATION_MODEL,
  DEFAULT_REJECTION,
  DEFAULT_RESPONSE_REJECTION,
  type GuardConfig,
  type PromptGuardConfig,
  type RejectionConfig,
  type WebhookGuardConfig,
} from "../../model/prompt-guards.ts";
import { choice, type Infer, list, object, type Schema, text } from "../../schema/schema.ts";
import { fileWord, manifestWord } from "../../schema/two-forms.ts";
import { lowerServerReference, type ServerReferenceContext } from "../parts/callout-server.ts";
import { simpleBackend } from "../parts/manifest-connection.ts";
import { expressionsSchema, lowerExpressions } from "../parts/named-expressions.ts";
import {
  guardLists,
  MODERATION,
  PROMPT_GUARD,
  REGEX,
  REJECTION,
  regexAction,
  rejectionFields,
  scopeSchema,
  TEXT_PARTS,
} from "./guard-fields.ts";
import {
  armorFields,
  BEDROCK_GUARDRAILS,
  bedrockFields,
  CONTENT_SAFETY,
  DEFAULT_ARMOR_LOCATION,
  GOOGLE_MODEL_ARMOR,
  guardFailureMode,
  PROMPT_SAFETY,
  promptShield,
  safetyChecks,
  safetyFields,
  secureHost,
} from "./guard-servers.ts";
import { manifestPatterns, readManifestPatterns } from "./pattern-forms.ts";

const regex = object(
  {
    ...manifestPatterns(),
    action: regexAction.manifest,
  },
  { description: REGEX },
);

const failureMode = guardFailureMode.manifest;

const webhook = object(
  {
    failureMode,
    headers: expressionsSchema(
      "Headers computed from the client's request, also from `llmRequest` on routes to models, and sent to the guard, replacing forwarded ones of the same name; one whose expression fails is omitted.",
    ),
    backendRef: backendReference("The guard's server."),
    forwardHeaderMatches: list(
      object(
        {
          type: choice("How the value is compared.", ["Exact", "RegularExpression"], {
            default: "Exact",
          }),
          name: headerName,
          value: text("The value.", { maxLength: 4096 }),
        },
        { required: ["name", "value"] },
      ),
      {
        description:
          "Headers of the client's request that are forwarded to the guard if their values match.",
      },
    ),
  },
  { required: ["backendRef"], description: "Calls a custom guard server." },
);

function customResponse({ message }: RejectionConfig) {
  return object(rejectionFields(message, {}), {
    atLeastOneOf: ["message", "statusCode"],
    description: REJECTION,
  });
}

/** Returns the kinds of guards of requests and responses. `policies`: the connection to the server of a known service. */
export function guardKinds(policies: Schema<PolicyFields>) {
  const moderation = object(
    {
      model: text("The moderation model.", { default: DEFAULT_MODERATION_MODEL }),
      policies,
      failureMode,
    },
    { description: MODERATION },
  );
  const safety = { ...safetyFields, policies, failureMode };
  const kinds = {
    regex,
    webhook,
    bedrockGuardrails: object(
      { ...bedrockFields, policies, failureMode },
      { required: ["identifier", "version", "region"], description: BEDROCK_GUARDRAILS },
    ),
    googleModelArmor: object(
      { ...armorFields, policies, failureMode },
      { required: ["templateId", "projectId"], description: GOOGLE_MODEL_ARMOR },
    ),
  };
  return {
    response: {
      ...kinds,
      azureContentSafety: object(safety, { required: ["endpoint"], description: CONTENT_SAFETY }),
    },
    request: {
      ...kinds,
      azureContentSafety: object(
        { ...safety, ...promptShield },
        { required: ["endpoint"], description: PROMPT_SAFETY },
      ),
      externalModeration: moderation,
      openAIModeration: { ...moderation, aliasOf: "externalModeration" },
    },
  };
}

const kinds = guardKinds(simpleBackend);

const responseGuard = object(
  { ...kinds.response, response: customResponse(DEFAULT_RESPONSE_REJECTION) },
  { exactlyOneOf: Object.keys(kinds.response) },
);

const requestGuard = object(
  {
    ...kinds.request,
    scope: scopeSchema(TEXT_PARTS.map(manifestWord)),
    response: customResponse(DEFAULT_REJECTION),
  },
  { exactlyOneOf: Object.keys(kinds.request) },
);

/** Schema of `AIPromptGuard`. */
export const promptGuard = object(guardLists(requestGuard, responseGuard), {
  atLeastOneOf: ["request", "response"],
  description: PROMPT_GUARD,
});

type Value = Infer<typeof promptGuard>;
type GuardValue = NonNullable<Value["request"]>[number];

/** Services needed to read the guards of a manifest. */
export interface GuardContext extends ServerReferenceContext {
  /** Returns the connection policies of a server that has policies of its own. */
  readonly connection: (fields: PolicyFields, origin: Origin) => BackendPolicies | undefined;
}

/** Converts a validated `promptGuard` to canonical form. */
export function readPromptGuard(
  { request = [], response = [], streaming }: Value,
  context: GuardContext,
): PromptGuardConfig {
  const read = (guards: readonly GuardValue[], phase: string, otherwise: RejectionConfig) =>
    guards.flatMap((each, index) => {
      const at = { ...context, origin: childOf(context.origin, phase, index) };
      return readGuard(each, otherwise, at) ?? [];
    });
  return {
    request: read(request, "request", DEFAULT_REJECTION),
    response: read(response, "response", DEFAULT_RESPONSE_REJECTION),
    unguardedStreams: streaming === "Disabled" ? childOf(context.origin, "streaming") : undefined,
    window: DEFAULT_GUARD_WINDOW,
    windowOrigin: undefined,
  };
}

/** Reads a guard; returns `undefined` if its server is unknown (reported). `otherwise`: the default rejection. */
export function readGuard(
  value: GuardValue,
  otherwise: RejectionConfig,
  context: GuardContext,
): GuardConfig | undefined {
  const { response, regex: patterns, webhook: hook, openAIModeration, scope } = value;
  const { bedrockGuardrails: bedrock, googleModelArmor: armor, azureContentSafety: azure } = value;
  const { origin } = context;
  const { message = otherwise.message, statusCode: status = otherwise.status } = response ?? {};
  const common = {
    rejection: { status, message },
    rejectionOrigin: response && childOf(origin, "response"),
    scope: scope && {
      parts: scope.map(fileWord),
      origin: childOf(origin, "scope"),
    },
  };
  if (patterns !== undefined) {
    return { kind: "regex", ...readPatterns(patterns, childOf(origin, "regex")), ...common };
  }
  if (hook !== undefined) {
    const at = childOf(origin, "webhook");
    const server = lowerServerReference(hook, { ...context, origin: at });
    const asked = { ...common, passesOnFailure: hook.failureMode === "FailOpen" };
    return server && { kind: "webhook", ...asked, server, ...readHeaders(hook, at), origin: at };
  }
  if (bedrock !== undefined) {
    const { identifier, version, region } = bedrock;
    const service = readService(bedrock, childOf(origin, "bedrockGuardrails"), context);
    return { kind: "bedrockGuardrails", ...common, identifier, version, region, ...service };
  }
  if (armor !== undefined) {
    const { templateId: template, projectId: project, location } = armor;
    const own = { template, project, location: location ?? DEFAULT_ARMOR_LOCATION };
    const service = readService(armor, childOf(origin, "googleModelArmor"), context);
    return { kind: "googleModelArmor", ...common, ...own, ...service };
  }
  if (azure !== undefined) {
    const at = childOf(origin, "azureContentSafety");
    const { endpoint, analyzeText } = azure;
    const detectJailbreak = "detectJailbreak" in azure ? azure.detectJailbreak : undefined;
    return {
      kind: "azureContentSafety",
      ...common,
      ...safetyChecks({ analyzeText, detectJailbreak }),
      ...readService(azure, at, context),
      host: secureHost(endpoint),
      hostOrigin: childOf(at, "endpoint"),
    };
  }
  const moderation = openAIModeration ?? value.externalModeration ?? {};
  const { model = DEFAULT_MODERATION_MODEL } = moderation;
  const name = openAIModeration === undefined ? "externalModeration" : "openAIModeration";
  const service = readService(moderation, childOf(origin, name), context);
  return { kind: "openAIModeration", ...common, model, ...service };
}

/** Reads the settings of a well-known service, which has a fixed address and its own connection policies. */
function readService(
  {
    policies,
    failureMode: mode,
  }: { readonly policies?: PolicyFields; readonly failureMode?: "FailClosed" | "FailOpen" },
  origin: Origin,
  { connection }: Pick<GuardContext, "connection">,
) {
  return {
    host: undefined,
    hostOrigin: origin,
    policies: policies && connection(policies, childOf(origin, "policies")),
    passesOnFailure: mode === "FailOpen",
    origin,
  };
}

function readPatterns({ action, ...patterns }: Infer<typeof regex>, origin: Origin) {
  return {
    action: fileWord(action ?? "Mask"),
    patterns: readManifestPatterns(patterns, origin),
    origin,
  };
}

function readHeaders(
  { forwardHeaderMatches = [], headers }: Infer<typeof webhook>,
  origin: Origin,
): Pick<WebhookGuardConfig, "forwardHeaders" | "headers"> {
  return {
    headers: lowerExpressions(headers, childOf(origin, "headers")),
    forwardHeaders: forwardHeaderMatches.map(({ type, name, value }, index) => ({
      name: name.toLowerCase(),
      kind: type === "RegularExpression" ? "regex" : "exact",
      value,
      origin: childOf(origin, "forwardHeaderMatches", index, "value"),
    })),
  };
}
