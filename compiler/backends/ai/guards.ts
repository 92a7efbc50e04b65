import type { TextPart } from "../../../runtime/llm/chat/whole-texts.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import { checkPattern } from "../../cel/regex/check-pattern.ts";
import { matchBounds } from "../../cel/regex/match-bounds.ts";
import { type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Configured, RouteType } from "../../model/llm-policies.ts";
import {
  DEFAULT_GUARD_WINDOW,
  type GuardConfig,
  type NamedPattern,
  type PatternConfig,
  type PromptGuardConfig,
  type RegexGuardConfig,
  type RejectionConfig,
} from "../../model/prompt-guards.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import { type GuardPlace, resolveServerGuard, type ServerGuardNode } from "./server-guards.ts";

/** Guards of a provider's requests and responses, complete. */
export interface PromptGuardNode {
  readonly request: readonly GuardNode[];
  readonly response: readonly GuardNode[];
  /** Whether response guards also act on streams. */
  readonly guardsStreams: boolean;
  /** Hooks of the route's policies that act after the guards; absent if there are none. */
  readonly hooks?: TextHooks;
  readonly origin: Origin;
}

/** Which texts the policies of a route read themselves. */
export interface TextHooks {
  readonly request: boolean;
  readonly response: boolean;
  readonly origin: Origin;
}

/** One guard. */
export type GuardNode = RegexGuardNode | ServerGuardNode;

/** A guard that searches for patterns. */
export interface RegexGuardNode {
  readonly kind: "regex";
  readonly patterns: readonly PatternNode[];
  /** Parts of requests that it scans; `undefined` for all. */
  readonly scope: readonly TextPart[] | undefined;
  /** Response for rejected content; `undefined` if matches are masked. */
  readonly rejection: RejectionConfig | undefined;
}

/** One pattern. */
export type PatternNode =
  | { readonly kind: "named"; readonly name: NamedPattern }
  | {
      readonly kind: "own";
      readonly pattern: string;
      /** Whether matches can have any length. */
      readonly isOpen: boolean;
      /** Maximum number of UTF-16 units that are held back for the rest of a match. */
      readonly longest: number;
    };

/** Resolves `promptGuard`; returns `undefined` if a mistake was reported. */
export function resolvePromptGuard(
  { value, origin }: Configured<PromptGuardConfig>,
  types: ReadonlySet<RouteType>,
  context: BackendResolveContext,
): PromptGuardNode | undefined {
  const { request, response, window, windowOrigin, unguardedStreams } = value;
  const { diagnostics } = context;
  const isValid = checkTraffic(value, types, origin, diagnostics);
  const resolve = (guards: readonly GuardConfig[]) =>
    guards.flatMap((guard) => resolveGuard(guard, { window, phase: "llm" }, context) ?? []);
  const [requests, responses] = [resolve(request), resolve(response)];
  const acts =
    [...requests, ...responses].some(waitsForMore) ||
    responses.some(({ kind }) => kind !== "regex");
  if (windowOrigin !== undefined && !acts) {
    const params = { field: "window", actsOn: "patterns without a bound, and servers" };
    diagnostics.report("idle-guard-field", keyPlace(windowOrigin), params);
  }
  if (unguardedStreams !== undefined) reportStreams(value, unguardedStreams, diagnostics);
  const isWhole = requests.length === request.length && responses.length === response.length;
  if (!isValid || !isWhole) return undefined;
  const guardsStreams = unguardedStreams === undefined;
  return { request: requests, response: responses, guardsStreams, origin };
}

/** Whether all texts of a route can be read by hooks of its policies; reports it otherwise. */
export function canReadTexts(
  { origin }: TextHooks,
  types: ReadonlySet<RouteType>,
  diagnostics: Diagnostics,
): boolean {
  return isRead(types, "a hook for texts", origin, diagnostics);
}

/** Adds hooks of the route's policies to the guards of a provider. */
export function hookedGuard(guard: PromptGuardNode | undefined, hooks: TextHooks): PromptGuardNode {
  const none = { request: [], response: [], guardsStreams: true, origin: hooks.origin };
  return { ...(guard ?? none), hooks };
}

/** Reports disabled guards of streams: clients can bypass the guards by requesting a stream. */
function reportStreams(
  { response }: PromptGuardConfig,
  at: Origin,
  diagnostics: Diagnostics,
): void {
  if (response.length > 0) {
    diagnostics.report("unguarded-streams", at, {});
    return;
  }
  const params = { field: "streaming", actsOn: "guards of responses" };
  diagnostics.report("idle-guard-field", keyPlace(at), params);
}

function waitsForMore(guard: GuardNode): boolean {
  return (
    guard.kind === "regex" && guard.patterns.some((each) => each.kind === "own" && each.isOpen)
  );
}

/** Route types that are forwarded without being parsed, so guards cannot act on them. */
const UNREAD: readonly RouteType[] = ["Passthrough", "Realtime"];

/** Route types whose responses contain text. */
const ANSWERS: readonly RouteType[] = [
  ...(["Completions", "Messages", "Responses", "GenerateContent", "Converse"] as const),
  ...(["Transcriptions", "Translations", "Images", "ImageEdits", "Rerank"] as const),
];

function checkTraffic(
  { response }: PromptGuardConfig,
  types: ReadonlySet<RouteType>,
  origin: Origin,
  diagnostics: Diagnostics,
): boolean {
  if (!isRead(types, '"promptGuard"', keyPlace(origin), diagnostics)) return false;
  if (response.length > 0 && !ANSWERS.some((type) => types.has(type))) {
    const params = { field: "promptGuard.response", actsOn: "completions", found: undefined };
    diagnostics.report("misplaced-field", keyPlace(origin), params);
  }
  return true;
}

/** Reports traffic that a guard cannot read. */
function isRead(
  types: ReadonlySet<RouteType>,
  guard: string,
  at: Origin,
  diagnostics: Diagnostics,
): boolean {
  const passing = UNREAD.find((type) => types.has(type));
  if (passing !== undefined) diagnostics.report("guard-cannot-act", at, { guard, type: passing });
  return passing === undefined;
}

/** Resolves guards of whole texts, which do not arrive in pieces; returns `undefined` if a mistake was reported. */
export function resolveWholeGuards(
  guards: readonly GuardConfig[],
  context: BackendResolveContext,
): readonly GuardNode[] | undefined {
  const place = { window: undefined, phase: "request" } as const;
  const resolved = guards.flatMap((guard) => resolveGuard(guard, place, context) ?? []);
  return resolved.length < guards.length ? undefined : resolved;
}

/** `window`: characters of a stream that are held back; `undefined` if texts are whole. */
function resolveGuard(
  guard: GuardConfig,
  { window, phase }: Pick<GuardPlace, "phase"> & { readonly window: number | undefined },
  context: BackendResolveContext,
): GuardNode | undefined {
  return guard.kind === "regex"
    ? resolveRegexGuard(guard, window, context.diagnostics)
    : resolveServerGuard(guard, { window: window ?? DEFAULT_GUARD_WINDOW, phase }, context);
}

function resolveRegexGuard(
  { action, patterns, scope, rejection, rejectionOrigin, origin }: RegexGuardConfig,
  window: number | undefined,
  diagnostics: Diagnostics,
): RegexGuardNode | undefined {
  if (patterns.length === 0) {
    diagnostics.report("missing-field", origin, { owner: "regex", key: "matches" });
    return undefined;
  }
  const resolved = patterns.flatMap((each) => resolvePattern(each, window, diagnostics) ?? []);
  if (resolved.length < patterns.length) return undefined;
  const isRejecting = action === "reject";
  if (!isRejecting && rejectionOrigin !== undefined) {
    const field = String(rejectionOrigin.path.at(-1));
    const params = { field, actsOn: "what is rejected" };
    diagnostics.report("idle-guard-field", keyPlace(rejectionOrigin), params);
  }
  return {
    kind: "regex",
    patterns: resolved,
    scope: scope?.parts,
    rejection: isRejecting ? rejection : undefined,
  };
}

/** Resolves a pattern; returns `undefined` if a mistake was reported. `window`: see `PromptGuardConfig`. */
export function resolvePattern(
  config: PatternConfig,
  window: number | undefined,
  diagnostics: Diagnostics,
): PatternNode | undefined {
  if (config.kind === "named") return config;
  const { pattern, origin } = config;
  const problems = checkPattern(pattern);
  addProblems(problems, origin, diagnostics);
  if (problems.length > 0) return undefined;
  const { longest, extent } = matchBounds(pattern);
  if (extent !== "some") diagnostics.report("guard-pattern-extent", origin, { extent });
  else if (longest === undefined && window !== undefined)
    diagnostics.report("unbounded-guard-pattern", origin, { window });
  const isOpen = longest === undefined;
  return { kind: "own", pattern, isOpen, longest: longest ?? window ?? DEFAULT_GUARD_WINDOW };
}
