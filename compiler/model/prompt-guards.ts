import type { TextPart } from "../../runtime/llm/chat/whole-texts.ts";
import type { TextAnalysis } from "../../runtime/llm/guards/azure-guard.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "./destinations.ts";
import type { NamedExpression } from "./expressions.ts";
import type { ValueMatchConfig } from "./matches.ts";
import type { ServerPolicies } from "./server-policies.ts";
import type { Text } from "./texts.ts";

/** `promptGuard` as configured: what guards requests and responses, in this order. */
export interface PromptGuardConfig {
  readonly request: readonly GuardConfig[];
  readonly response: readonly GuardConfig[];
  /** Where it says that streams pass the guards of responses by; undefined: they do not. */
  readonly unguardedStreams: Origin | undefined;
  /** Characters of a stream that wait: for the rest of a match that has no bound, and for a server's word. */
  readonly window: number;
  /** Where the window stands; undefined: it is the default. */
  readonly windowOrigin: Origin | undefined;
}

/** One guard as configured. */
export type GuardConfig = RegexGuardConfig | ServerGuardConfig;

/** One guard as configured that asks a server. */
export type ServerGuardConfig =
  | WebhookGuardConfig
  | ModerationGuardConfig
  | BedrockGuardConfig
  | ModelArmorGuardConfig
  | AzureGuardConfig;

/** What every guard has. */
interface GuardPlace {
  readonly rejection: RejectionConfig;
  /** Where the rejection stands; undefined: it is the default. */
  readonly rejectionOrigin: Origin | undefined;
  readonly scope: ScopeConfig | undefined;
  readonly origin: Origin;
}

/** Which texts of requests a guard sees. */
export interface ScopeConfig {
  readonly parts: readonly TextPart[];
  readonly origin: Origin;
}

/** Patterns as configured. */
export interface RegexGuardConfig extends GuardPlace {
  readonly kind: "regex";
  readonly action: "mask" | "reject";
  readonly patterns: readonly PatternConfig[];
}

/** What every guard has that asks a server. */
interface ServerGuardPlace extends GuardPlace {
  /** Texts pass when it can't be asked. */
  readonly passesOnFailure: boolean;
}

/** A webhook as configured. */
export interface WebhookGuardConfig extends ServerGuardPlace {
  readonly kind: "webhook";
  readonly server: DestinationConfig;
  readonly forwardHeaders: readonly ValueMatchConfig[];
  /** Headers that expressions make; `:path`: where it is asked. */
  readonly headers: readonly NamedExpression[];
}

/** A guard as configured that is a service of a known maker. */
interface ServiceGuardPlace extends ServerGuardPlace {
  /** Another server that speaks as the maker's own does. */
  readonly host: Text | undefined;
  readonly hostOrigin: Origin;
  readonly policies: ServerPolicies | undefined;
}

/** OpenAI's moderation as configured. */
export interface ModerationGuardConfig extends ServiceGuardPlace {
  readonly kind: "openAIModeration";
  readonly model: string;
}

/** A guardrail of Amazon Bedrock as configured. */
export interface BedrockGuardConfig extends ServiceGuardPlace {
  readonly kind: "bedrockGuardrails";
  readonly identifier: string;
  readonly version: string;
  readonly region: string;
}

/** A template of Google Model Armor as configured. */
export interface ModelArmorGuardConfig extends ServiceGuardPlace {
  readonly kind: "googleModelArmor";
  readonly template: string;
  readonly project: string;
  readonly location: string;
}

/** A resource of Azure AI Content Safety as configured; its server is the `host`. */
export interface AzureGuardConfig extends ServiceGuardPlace {
  readonly kind: "azureContentSafety";
  /** How texts are analysed; undefined: they are not. */
  readonly analysis: TextAnalysis | undefined;
  /** The version of the API that looks for attacks in prompts; undefined: nobody does. */
  readonly shieldVersion: string | undefined;
}

/** A pattern of the configuration, or one that gwc knows by name. */
export type PatternConfig =
  | { readonly kind: "own"; readonly pattern: string; readonly origin: Origin }
  | { readonly kind: "named"; readonly name: NamedPattern };

/** The patterns that gwc knows by name. */
export const NAMED_PATTERNS = ["ssn", "creditCard", "phoneNumber", "email", "caSin"] as const;

/** The name of a pattern that gwc knows. */
export type NamedPattern = (typeof NAMED_PATTERNS)[number];

/** What clients get for what is rejected. */
export interface RejectionConfig {
  readonly status: number;
  /** For clients, in the words of their format. */
  readonly message: string;
  /** The body and the headers as configured, in the place of the format's. */
  readonly own?: {
    readonly body: string;
    /** Flat list. */
    readonly headers: readonly string[];
  };
}

/** What clients get where nothing is configured. */
export const DEFAULT_REJECTION = {
  status: 403,
  message: "The request was rejected due to inappropriate content",
} as const;

/** The same for a response. */
export const DEFAULT_RESPONSE_REJECTION = {
  status: 403,
  message: "The response was rejected due to inappropriate content",
} as const;

/** What is configured where nothing is said; characters. */
export const DEFAULT_GUARD_WINDOW = 1_024;

/** What moderates where nothing is said. */
export const DEFAULT_MODERATION_MODEL = "omni-moderation-latest";

/** The version of Azure's API that is asked where nothing is said: all that is asked is generally available in it. */
export const DEFAULT_SAFETY_VERSION = "2024-09-01";

/** Low: what Azure's service calls safe passes. */
export const DEFAULT_SEVERITY = 2;
