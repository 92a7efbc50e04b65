import type { Exchange } from "../../http/exchange.ts";
import { logFields } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { Sample } from "../../metrics/family.ts";
import { customPolicyBlocked, customPolicyCalls } from "../../metrics/table/custom.ts";
import type {
  OptionValues,
  PolicyDefinition,
  PolicyOptions,
  ProvidedTypes,
} from "../../policy/policy.ts";
import { memoryGuard } from "./memory-guard.ts";
import { hookErrorText } from "./policy-lines.ts";
import type { SecretOption } from "./secret-option.ts";
import { watchdog } from "./watchdog.ts";
import { requireWatchedLanguage } from "./watched-language.ts";

/** A hook of a custom policy. */
export type HookName =
  | "request"
  | "response"
  | "requestBody"
  | "toolCall"
  | "toolResult"
  | "toolList"
  | "prompt"
  | "completion"
  | "responseBody"
  | "responseStream"
  | "connect";

/** How a configuration uses a policy. */
export interface CustomUse<Options extends PolicyOptions> {
  /** Name in logs and metrics. */
  readonly name: string;
  readonly options: OptionValues<Options>;
  /** Milliseconds for an async hook. */
  readonly deadline: number;
  /** Whether requests continue if a hook fails. */
  readonly passesOnFailure: boolean;
  /** Values of further options, which are read again when their files change. */
  readonly secrets?: Readonly<Record<string, SecretOption>>;
}

/** A custom policy with its options bound. */
export interface CustomPolicy
  extends Pick<CustomUse<PolicyOptions>, "name" | "deadline" | "passesOnFailure"> {
  readonly provides: ProvidedTypes;
  readonly definition: PolicyDefinition<PolicyOptions, ProvidedTypes>;
  readonly options: OptionValues<PolicyOptions>;
  /** Counters of calls by hook and result, which are looked up once. */
  readonly counters: Map<string, Sample>;
}

/** Binds the options of a configuration to a policy. */
export function openCustomPolicy<Options extends PolicyOptions, Provides extends ProvidedTypes>(
  definition: PolicyDefinition<Options, Provides>,
  { name, options, deadline, passesOnFailure, secrets = {} }: CustomUse<Options>,
): CustomPolicy {
  for (const [option, read] of Object.entries(secrets))
    Object.defineProperty(options, option, { get: read, enumerable: true });
  return {
    ...{ name, deadline, passesOnFailure },
    provides: definition.provides ?? {},
    options: frozenOptions(options),
    counters: new Map(),
    // The options were checked against the declaration of this policy, whose type is lost from here on.
    definition: definition as PolicyDefinition<PolicyOptions, ProvidedTypes>,
  };
}

/** Freezes options and the lists in them: a policy that changed them would change later requests. */
function frozenOptions<Options extends object>(options: Options): Options {
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(options)))
    Object.freeze(value);
  return Object.freeze(options);
}

/** Milliseconds of a call that are reported, because no other request is served meanwhile. */
const BLOCKED = 50;

/**
 * Calls a hook, and reports it if it blocks the process. Throws if it changed what all policies share, and does not call it if
 * the memory is nearly full.
 */
export function runHook<Result>(
  exchange: Pick<Exchange, "gateway">,
  name: string,
  hook: HookName,
  call: () => Result,
): Result {
  memoryGuard.requireRoom((problem) => noteFullMemory(exchange, name, problem));
  const began = performance.now();
  const result = watchdog.watch(name, call);
  noteDuration(exchange, name, hook, began);
  requireWatchedLanguage();
  return result;
}

function noteFullMemory(
  { gateway }: Pick<Exchange, "gateway">,
  name: string,
  problem: string,
): void {
  gateway.warn(
    `custom policies are not called, because ${problem} (first refused: ${name}): does one keep what it should not?`,
  );
}

function noteDuration(
  { gateway: { metrics, warn } }: Pick<Exchange, "gateway">,
  name: string,
  hook: HookName,
  began: number,
): void {
  const duration = performance.now() - began;
  if (duration < BLOCKED) return;
  metrics.counter(customPolicyBlocked, name, hook).value += 1;
  warn(`custom policy ${name} blocked all requests for ${Math.round(duration)} ms (${hook})`);
}

/** Counts a call of a hook. */
export function countCall(
  { gateway }: Pick<Exchange, "gateway">,
  { name, counters }: CustomPolicy,
  hook: HookName,
  result: "ok" | "refused" | "failed" | "timeout",
): void {
  const key = result === "ok" ? hook : `${hook} ${result}`;
  let counter = counters.get(key);
  if (counter === undefined) {
    counter = gateway.metrics.counter(customPolicyCalls, name, hook, result);
    counters.set(key, counter);
  }
  counter.value += 1;
}

/** Counts and logs that a hook refused. */
export function noteHookRefusal(exchange: Exchange, policy: CustomPolicy, hook: HookName): void {
  countCall(exchange, policy, hook, "refused");
  logFields(exchange.record).set("custom.policy", policy.name);
}

/**
 * Handles a hook that threw or returned something invalid: the request is refused, unless the policy passes requests on
 * failure. Returns whether it continues.
 */
export function failed(
  exchange: Exchange,
  policy: CustomPolicy,
  hook: HookName,
  error: unknown,
): boolean {
  noteHookFailure(exchange, policy, hook, error);
  if (policy.passesOnFailure) return true;
  refuse(exchange, 500, "Custom", "internal error");
  return false;
}

/** Counts and logs a hook that failed. */
export function noteHookFailure(
  exchange: Exchange,
  policy: CustomPolicy,
  hook: HookName,
  error: unknown,
): void {
  countCall(exchange, policy, hook, hookOutcome(error));
  const fields = logFields(exchange.record);
  fields.set("custom.policy", policy.name);
  fields.set("error", `${hook}: ${hookErrorText(error)}`);
}

/** Returns how a hook that threw is counted. */
export function hookOutcome(error: unknown): "timeout" | "failed" {
  return DeadlineExceeded.isOne(error) ? "timeout" : "failed";
}

/** The deadline of an async hook has passed. */
export class DeadlineExceeded extends Error {
  readonly #isOne = true;

  /** Whether an error is one. Unlike `instanceof`, this runs no code of a policy. */
  static isOne(error: unknown): boolean {
    return typeof error === "object" && error !== null && #isOne in error;
  }
}
