import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { backendReference, headerName, longText } from "../../manifests/field-types.ts";
import {
  DEFAULT_GUARD_WINDOW,
  DEFAULT_REJECTION,
  DEFAULT_RESPONSE_REJECTION,
  type GuardConfig,
  type NamedPattern,
  type PatternConfig,
  type PromptGuardConfig,
  type RejectionConfig,
} from "../../model/prompt-guards.ts";
import {
  choice,
  type Infer,
  integer,
  list,
  object,
  type Schema,
  text,
  unsupported,
} from "../../schema/schema.ts";

const names: Readonly<Record<string, NamedPattern>> = {
  Ssn: "ssn",
  CreditCard: "creditCard",
  PhoneNumber: "phoneNumber",
  Email: "email",
  CaSin: "caSin",
};

const regex = object(
  {
    matches: list(longText("A pattern."), { description: "Patterns of your own (RE2)." }),
    builtins: list(
      choice("A pattern by name.", ["Ssn", "CreditCard", "PhoneNumber", "Email", "CaSin"]),
      { description: "Patterns by name." },
    ),
    action: choice("What happens to a match.", ["Mask", "Reject"], { default: "Mask" }),
  },
  { description: "What is looked for in the texts." },
);

const webhook = unsupported(
  "webhooks as guards",
  object(
    {
      backendRef: backendReference("The guard."),
      forwardHeaderMatches: list(
        object(
          {
            type: choice("How it is compared.", ["Exact", "RegularExpression"], {
              default: "Exact",
            }),
            name: headerName,
            value: text("The value.", { maxLength: 4096 }),
          },
          { required: ["name", "value"] },
        ),
        { description: "Headers of the request that the guard is shown." },
      ),
    },
    { required: ["backendRef"] },
  ),
);

function customResponse({ message }: RejectionConfig) {
  return object(
    {
      message: text("The message.", { default: message }),
      statusCode: integer("The status.", 200, 599, { default: DEFAULT_REJECTION.status }),
    },
    { atLeastOneOf: ["message", "statusCode"], description: "What the client gets instead." },
  );
}

const responseGuard = object(
  { regex, webhook, response: customResponse(DEFAULT_RESPONSE_REJECTION) },
  { exactlyOneOf: ["regex", "webhook"] },
);

/** `AIPromptGuard`. `simpleBackend`: how a server of a guard is reached. */
export function promptGuard(simpleBackend: Schema) {
  const moderation = unsupported(
    "moderation as a guard",
    object({ model: text("The model."), policies: simpleBackend }),
  );
  const requestGuard = object(
    {
      ...{ regex, webhook, externalModeration: moderation },
      response: customResponse(DEFAULT_REJECTION),
      openAIModeration: { ...moderation, aliasOf: "externalModeration" },
    },
    { exactlyOneOf: ["regex", "webhook", "externalModeration", "openAIModeration"] },
  );
  return object(
    {
      request: list(requestGuard, {
        minItems: 1,
        maxItems: 8,
        description: "Guards of what clients send, in their order.",
      }),
      response: list(responseGuard, {
        minItems: 1,
        maxItems: 8,
        description: "Guards of what models say, in their order.",
      }),
    },
    {
      atLeastOneOf: ["request", "response"],
      description: "What must not reach a model, and what must not reach a client.",
    },
  );
}

type Value = Infer<ReturnType<typeof promptGuard>>;
type GuardValue = NonNullable<Value["response"]>[number];

/** The canonical form of a validated `promptGuard`. */
export function readPromptGuard(
  { request = [], response = [] }: Value,
  origin: Origin,
): PromptGuardConfig {
  const at = (phase: string, index: number) => childOf(origin, phase, index);
  return {
    request: request.flatMap((each, index) =>
      readGuard(each, DEFAULT_REJECTION, at("request", index)),
    ),
    response: response.flatMap((each, index) =>
      readGuard(each, DEFAULT_RESPONSE_REJECTION, at("response", index)),
    ),
    window: DEFAULT_GUARD_WINDOW,
    windowOrigin: undefined,
  };
}

function readGuard(
  { regex: value, response }: GuardValue,
  otherwise: RejectionConfig,
  origin: Origin,
): readonly GuardConfig[] {
  if (value === undefined) return [];
  const { message = otherwise.message, statusCode: status = otherwise.status } = response ?? {};
  const { matches = [], builtins = [], action } = value;
  const at = childOf(origin, "regex");
  const patterns: readonly PatternConfig[] = [
    ...builtins.map((name) => ({ kind: "named" as const, name: names[name] ?? "ssn" })),
    ...matches.map((pattern, index) => ({
      kind: "own" as const,
      pattern,
      origin: childOf(at, "matches", index),
    })),
  ];
  return [
    {
      kind: "regex",
      action: action === "Reject" ? "reject" : "mask",
      patterns,
      rejection: { status, message },
      rejectionOrigin: response && childOf(origin, "response"),
      origin: at,
    },
  ];
}
