import { builtinModules } from "node:module";
import path from "node:path";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { MountedFile } from "../../model/texts.ts";
import { suggestedWord } from "../../schema/suggested-field.ts";
import type { ResolveContext } from "../policy.ts";
import { HOOKS, type PolicyDeclaration } from "./declaration.ts";
import type { CustomEntryConfig } from "./fields.ts";
import { type ResolvedOptions, resolveOptions } from "./options.ts";
import { GLOBAL_POWERS, isPower } from "./powers.ts";
import { POLICY_FOLDER, type PolicySource, readPolicyModule } from "./read-policy.ts";

/** A custom policy, read and resolved. */
export interface CustomEntry extends Pick<PolicyDeclaration, "hooks" | "provides" | "isIdentity"> {
  /** Name in logs, metrics and reviews: that of its file, with its folder below `policies`. */
  readonly name: string;
  /** Index in the configured list, and the place that the configuration gives it: `after authorization`. */
  readonly index: number;
  readonly order: string | undefined;
  readonly options: ResolvedOptions;
  readonly secrets: Readonly<Record<string, MountedFile>>;
  readonly allow: readonly string[];
  /** Milliseconds for an async hook. */
  readonly deadline: number;
  readonly passesOnFailure: boolean;
  /** Its module, then the modules of the user that it imports. */
  readonly sources: readonly PolicySource[];
  /** Place that names it. */
  readonly named: Origin;
  readonly origin: Origin;
}

/** `custom` resolved. */
export interface CustomNode {
  readonly entries: readonly CustomEntry[];
}

/** Milliseconds that an async hook may take by default. */
const DEADLINE = 2000;

/** Reads the module of a policy and resolves its use; returns `undefined` after mistakes (reported). */
export function resolveEntry(
  config: CustomEntryConfig,
  context: ResolveContext,
): CustomEntry | undefined {
  const { use, options, allow, timeout, passesOnFailure, secrets, isPublished, origin } = config;
  const { index, place } = config;
  const named = namePlace(config);
  const areKnown = requirePowers(allow, childOf(origin, "allow"), context);
  const read = readPolicyModule({ use, allow, isPublished }, named, context);
  if (!areKnown) return undefined;
  if (read === undefined) return undefined;
  const { declaration, sources } = read;
  const { hooks, provides, isIdentity } = declaration;
  if (!hasMessages(hooks, use, named, context)) return undefined;
  if (isIdentity && passesOnFailure) {
    const message = `"failureMode: failOpen" would admit callers whom ${use} does not know`;
    context.diagnostics.report("policy-module", childOf(origin, "failureMode"), { message });
    return undefined;
  }
  const isLimited =
    hooks.responseStream !== undefined || HOOKS.some((hook) => hooks[hook]?.isAsync === true);
  if (timeout !== undefined && !isLimited) {
    const params = { field: '"timeout"', actsOn: "async hooks and responseStream" };
    context.diagnostics.report("idle-callout-field", childOf(origin, "timeout"), params);
  }
  const at = childOf(origin, "with");
  const given = { options, secrets: Object.keys(secrets) };
  const resolved = resolveOptions(declaration.options, given, at, context);
  if (resolved === undefined) return undefined;
  return {
    name: policyName(use),
    ...{ options: resolved, secrets, index },
    order: place && `${place.side} ${place.name}`,
    deadline: timeout ?? DEADLINE,
    ...{ allow, passesOnFailure, sources, hooks, provides, isIdentity, named, origin },
  };
}

/** Reports names that allow nothing. */
function requirePowers(
  allow: readonly string[],
  at: Origin,
  { diagnostics }: ResolveContext,
): boolean {
  const unknown = [...allow.entries()].filter(([, name]) => !isPower(name));
  for (const [index, name] of unknown) {
    const meant = name.replace(/^node:/, "");
    const suggestion = isPower(meant)
      ? meant
      : suggestedWord(meant, [...GLOBAL_POWERS, ...builtinModules]);
    diagnostics.report("bad-format", childOf(at, index), {
      field: `"${name}"`,
      expected: 'the name of a module of Node.js without "node:", or fetch, process or globalThis',
      advice: suggestion && `write ${suggestion}`,
    });
  }
  return unknown.length === 0;
}

/** Returns the name of a policy in logs, metrics and reviews: that of its file, with its folder below `policies`. */
export function policyName(use: string): string {
  return path.posix.normalize(use).slice(POLICY_FOLDER.length).replace(/\.ts$/, "");
}

/** Hooks about tools of MCP servers. */
const TOOL_HOOKS = ["toolCall", "toolResult", "toolList"] as const;

/** Hooks about texts of model calls. */
export const TEXT_HOOKS = ["prompt", "completion"] as const;

/** Hooks about bodies. */
const BODY_HOOKS = ["requestBody", "responseBody", "responseStream"] as const;

/** Returns the place that names a policy. */
function namePlace({
  isPublished,
  origin,
}: Pick<CustomEntryConfig, "isPublished" | "origin">): Origin {
  return childOf(origin, isPublished ? "policy" : "use");
}

/** Returns which hooks a route has in addition to `request` and `response`. */
function hookHint(
  { protocol }: ResolveContext["route"],
  isOfConnections: boolean | undefined,
): string {
  if (isOfConnections === true) return 'connections have the hook "connect"';
  const own = { mcp: TOOL_HOOKS, llm: TEXT_HOOKS, http: BODY_HOOKS }[protocol];
  return `besides "request" and "response", this route has ${own.map((hook) => `"${hook}"`).join(", ")}`;
}

/** Reports hooks about traffic that the route does not have. */
function hasMessages(
  hooks: PolicyDeclaration["hooks"],
  use: string,
  at: Origin,
  { route, phase, isOfConnections, diagnostics }: ResolveContext,
): boolean {
  const misplaced = isOfConnections
    ? HOOKS.flatMap((hook) =>
        hook === "connect" || hooks[hook] === undefined ? [] : [[hook, "requests"]],
      )
    : [
        { hooks: TOOL_HOOKS, protocol: "mcp", actsOn: "MCP routes" },
        { hooks: TEXT_HOOKS, protocol: "llm", actsOn: "routes to models" },
        { hooks: BODY_HOOKS, protocol: "http", actsOn: "HTTP routes" },
        { hooks: ["connect"] as const, protocol: "", actsOn: "connections of tcpRoutes" },
      ].flatMap(({ hooks: some, protocol, actsOn }) =>
        phase === "PostRouting" && route.protocol === protocol
          ? []
          : some.flatMap((hook) => (hooks[hook] === undefined ? [] : [[hook, actsOn]])),
      );
  for (const [hook, actsOn] of misplaced) {
    const message = `the hook "${hook}" of ${use} acts on ${actsOn} only`;
    diagnostics.report("policy-module", at, { message, hint: hookHint(route, isOfConnections) });
  }
  return misplaced.length === 0;
}
