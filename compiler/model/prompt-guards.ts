import type { Origin } from "../diagnostics/diagnostic.ts";

/** `promptGuard` as configured: what guards requests and responses, in this order. */
export interface PromptGuardConfig {
  readonly request: readonly GuardConfig[];
  readonly response: readonly GuardConfig[];
  /** Characters of a stream that wait for the rest of a match that has no bound. */
  readonly window: number;
  /** Where the window stands; undefined: it is the default. */
  readonly windowOrigin: Origin | undefined;
}

/** One guard as configured. */
export type GuardConfig = RegexGuardConfig;

/** Patterns as configured. */
export interface RegexGuardConfig {
  readonly kind: "regex";
  readonly action: "mask" | "reject";
  readonly patterns: readonly PatternConfig[];
  readonly rejection: RejectionConfig;
  /** Where the rejection stands; undefined: it is the default. */
  readonly rejectionOrigin: Origin | undefined;
  readonly origin: Origin;
}

/** A pattern of the configuration, or one that gwc knows by name. */
export type PatternConfig =
  | { readonly kind: "own"; readonly pattern: string; readonly origin: Origin }
  | { readonly kind: "named"; readonly name: NamedPattern };

/** The patterns that gwc knows by name. */
export const namedPatterns = ["ssn", "creditCard", "phoneNumber", "email", "caSin"] as const;

/** The name of a pattern that gwc knows. */
export type NamedPattern = (typeof namedPatterns)[number];

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
