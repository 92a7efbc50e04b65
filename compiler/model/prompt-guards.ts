import type { TextPart } from "../../runtime/llm/chat/whole-texts.ts";
import type { TextAnalysis } from "../../runtime/llm/guards/azure-guard.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "./destinations.ts";
import type { NamedExpression } from "./expressions.ts";
import type { ValueMatchConfig } from "./matches.ts";
import type { ServerPolicies } from "./server-policies.ts";
import type { Text } from "./texts.ts";

/** `promptGuard` as configured: guards of requests and responses, in this order. */
export interface PromptGuardConfig {
  readonly request: readonly GuardConfig[];
  readonly response: readonly GuardConfig[];
  /** Place of the setting that exempts streams from response guards; `undefined` if they are guarded. */
  readonly unguardedStreams: Origin | undefined;
  /**
   * Maximum number of characters of a stream that are held back, for the rest of an unbounded match or the decision of
   * a server.
   */
  readonly window: number;
  /** Place of the window; `undefined` for the default. */
  readonly windowOrigin: Origin | undefined;
}

/** A guard, as configured. */
export type GuardConfig = RegexGuardConfig | ServerGuardConfig;

/** A guard that calls a server, as configured. */
export type ServerGuardConfig =
  | WebhookGuardConfig
  | ModerationGuardConfig
  | BedrockGuardConfig
  | ModelArmorGuardConfig
  | AzureGuardConfig;

/** Fields of all guards. */
interface GuardPlace {
  readonly rejection: RejectionConfig;
  /** Place of the rejection; `undefined` for the default. */
  readonly rejectionOrigin: Origin | undefined;
  readonly scope: ScopeConfig | undefined;
  readonly origin: Origin;
}

/** Parts of requests that a guard inspects. */
export interface ScopeConfig {
  readonly parts: readonly TextPart[];
  readonly origin: Origin;
}

/** Patterns, as configured. */
export interface RegexGuardConfig extends GuardPlace {
  readonly kind: "regex";
  readonly action: "mask" | "reject";
  readonly patterns: readonly PatternConfig[];
}

/** Fields of all guards that call a server. */
interface ServerGuardPlace extends GuardPlace {
  /** Whether requests pass if the server cannot be reached. */
  readonly passesOnFailure: boolean;
}

/** A webhook, as configured. */
export interface WebhookGuardConfig extends ServerGuardPlace {
  readonly kind: "webhook";
  readonly server: DestinationConfig;
  readonly forwardHeaders: readonly ValueMatchConfig[];
  /** Expressions for headers; `:path` sets the path of the call. */
  readonly headers: readonly NamedExpression[];
}

/** A guard that uses a public service, as configured. */
interface ServiceGuardPlace extends ServerGuardPlace {
  /** Another server with the same API. */
  readonly host: Text | undefined;
  readonly hostOrigin: Origin;
  readonly policies: ServerPolicies | undefined;
}

/** OpenAI's moderation API, as configured. */
export interface ModerationGuardConfig extends ServiceGuardPlace {
  readonly kind: "openAIModeration";
  readonly model: string;
}

/** A guardrail of Amazon Bedrock, as configured. */
export interface BedrockGuardConfig extends ServiceGuardPlace {
  readonly kind: "bedrockGuardrails";
  readonly identifier: string;
  readonly version: string;
  readonly region: string;
}

/** A template of Google Model Armor, as configured. */
export interface ModelArmorGuardConfig extends ServiceGuardPlace {
  readonly kind: "googleModelArmor";
  readonly template: string;
  readonly project: string;
  readonly location: string;
}

/** A resource of Azure AI Content Safety, as configured; its server is `host`. */
export interface AzureGuardConfig extends ServiceGuardPlace {
  readonly kind: "azureContentSafety";
  /** Settings of the text analysis; `undefined` if there is none. */
  readonly analysis: TextAnalysis | undefined;
  /** API version for detecting attacks in prompts; `undefined` if they are not detected. */
  readonly shieldVersion: string | undefined;
}

/** A pattern of the configuration, or a built-in one by name. */
export type PatternConfig =
  | { readonly kind: "own"; readonly pattern: string; readonly origin: Origin }
  | { readonly kind: "named"; readonly name: NamedPattern };

/** Names of built-in patterns. */
export const NAMED_PATTERNS = ["ssn", "creditCard", "phoneNumber", "email", "caSin"] as const;

/** Name of a built-in pattern. */
export type NamedPattern = (typeof NAMED_PATTERNS)[number];

/** Response for rejected requests and responses. */
export interface RejectionConfig {
  readonly status: number;
  /** Message for clients, in the format of their API. */
  readonly message: string;
  /** Configured body and headers that replace those of the format. */
  readonly own?: {
    readonly body: string;
    /** Names and values, alternating. */
    readonly headers: readonly string[];
  };
}

/** Default rejection of a request. */
export const DEFAULT_REJECTION = {
  status: 403,
  message: "The request was rejected due to inappropriate content",
} as const;

/** Default rejection of a response. */
export const DEFAULT_RESPONSE_REJECTION = {
  status: 403,
  message: "The response was rejected due to inappropriate content",
} as const;

/** Default window in characters. */
export const DEFAULT_GUARD_WINDOW = 1_024;

/** Default model of the moderation API. */
export const DEFAULT_MODERATION_MODEL = "omni-moderation-latest";

/** Default version of Azure's API: the first in which everything that gwc uses is generally available. */
export const DEFAULT_SAFETY_VERSION = "2024-09-01";

/** Default severity, low: text that Azure's service calls safe passes. */
export const DEFAULT_SEVERITY = 2;
