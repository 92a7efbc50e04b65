import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { secretEntry } from "../manifests/field-types.ts";
import type { SettingsChange, SettingsComparison } from "../model/access.ts";
import { listChanges } from "../model/access.ts";
import type { MountedFile } from "../model/texts.ts";
import { parseDuration } from "../schema/duration.ts";
import {
  duration,
  type Infer,
  json,
  list,
  map,
  object,
  shortText,
  text,
} from "../schema/schema.ts";
import { wordsOfForms } from "../schema/two-forms.ts";
import { HOOKS, type PolicyDeclaration } from "./custom/declaration.ts";
import {
  OPTIONS,
  type OptionInput,
  type ResolvedOptions,
  resolveOptions,
  withSchema,
} from "./custom/options.ts";
import { type PolicySource, readPolicyModule } from "./custom/read-policy.ts";
import type { KubernetesContext, OrderPlace, Policy, ResolveContext } from "./policy.ts";

/** A custom policy, as configured. */
interface CustomEntryConfig {
  readonly use: string;
  readonly options: Readonly<Record<string, OptionInput>>;
  readonly allow: readonly string[];
  /** Milliseconds; `undefined` for the default. */
  readonly timeout: number | undefined;
  readonly passesOnFailure: boolean;
  /** Place in request order; `undefined` for that of custom policies. */
  readonly place: OrderPlace | undefined;
  /** Index in the configured list. */
  readonly index: number;
  /** Files of mounted Secrets with the values of further options, by name. */
  readonly secrets: Readonly<Record<string, MountedFile>>;
  /** Whether operators of a cluster have published it, so that the configuration cannot bring its code. */
  readonly isPublished: boolean;
  readonly origin: Origin;
}

/** A custom policy, read and resolved. */
interface CustomEntry extends Pick<PolicyDeclaration, "hooks" | "provides" | "isIdentity"> {
  /** Name in logs, metrics and reviews: that of its file. */
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

/** `custom` as configured. */
interface CustomConfig {
  readonly entries: readonly CustomEntryConfig[];
}

/** `custom` resolved. */
interface CustomNode {
  readonly entries: readonly CustomEntry[];
}

/** Milliseconds that an async hook may take by default. */
const DEADLINE = 2000;

const failureMode = wordsOfForms(
  "Outcome if a hook throws, exceeds its timeout or returns something invalid: the request is refused with 500, or continues.",
  ["failClosed", "failOpen"],
  "failClosed",
);

/** Returns the schemas of a field that puts a policy somewhere else in request order. */
function place(side: "before" | "after", name: string) {
  const what = `Name of the policy ${side} which this one runs (default: after authentication, before authorization).`;
  const field = (example: string) => shortText(what, { examples: [example] });
  return { file: field(name), manifest: field(name === "jwtAuth" ? "jwtAuthentication" : name) };
}

const entrySchema = object(
  {
    use: text(
      "Path of the policy's TypeScript module, in the folder `policies` next to the configuration.",
      { examples: ["./policies/tenant.ts"] },
    ),
    with: withSchema,
    allow: list(text("Name of a module of Node.js without `node:`, `fetch` or `process`."), {
      uniqueItems: true,
      maxItems: 32,
      description:
        "Names that the policy may use besides the language: modules of Node.js, `fetch` (also WebSocket), `process`.",
    }),
    timeout: duration("Maximum time of an async hook (default: 2s).", { minimumDuration: "1ms" }),
    failureMode: failureMode.file,
    before: place("before", "jwtAuth").file,
    after: place("after", "authorization").file,
  },
  {
    ...{ required: ["use"], atMostOneOf: ["before", "after"] },
    description: "A policy written in TypeScript, compiled into the gateway.",
  },
);

const schema = list(entrySchema, {
  minItems: 1,
  maxItems: 16,
  description: "Policies written in TypeScript, in the order in which they run.",
  examples: [[{ use: "./policies/tenant.ts", with: { header: "x-team" } }]],
});

const publishedSchema = object(
  {
    policy: shortText(
      "Name of a policy that operators have published: that of its file without `.ts`.",
      {
        ...{ maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
        ...{ form: "lower-case letters, digits and dashes", examples: ["tenant"] },
      },
    ),
    with: map(json, {
      maxProperties: 64,
      description: OPTIONS,
    }),
    secrets: map(secretEntry("An entry of a Secret.", "value"), {
      maxProperties: 16,
      description: "Options that are secrets, by name: entries of Secrets of the namespace.",
    }),
    timeout: duration("Maximum time of an async hook (default: 2s).", { minimumDuration: "1ms" }),
    failureMode: failureMode.manifest,
    before: place("before", "jwtAuth").manifest,
    after: place("after", "authorization").manifest,
  },
  {
    ...{ required: ["policy"], atMostOneOf: ["before", "after"] },
    description: "A policy written in TypeScript that operators have published.",
  },
);

const kubernetesSchema = list(publishedSchema, {
  ...{ minItems: 1, maxItems: 16 },
  description: "Policies written in TypeScript, in the order in which they run.",
});

/** Runs policies that users write in TypeScript. */
export const customPolicies: Policy<
  "custom",
  CustomConfig,
  CustomNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "custom",
  summary:
    "runs policies written in TypeScript and compiled into the gateway; later expressions read what they provide as `custom`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests", "streams"],
    variable: "custom",
    provides: ({ entries }) =>
      new Map(
        entries.flatMap(({ name, provides }) =>
          Object.keys(provides ?? {}).map((value) => [value, name] as const),
        ),
      ),
    changesRequest: () => "anything",
    textHooks: ({ entries }) => {
      const readers = entries.filter(({ hooks }) => TEXT_HOOKS.some((hook) => hooks[hook]));
      const [first] = readers;
      return (
        first && {
          request: readers.some(({ hooks }) => hooks.prompt !== undefined),
          response: readers.some(({ hooks }) => hooks.completion !== undefined),
          origin: first.named,
        }
      );
    },
    customHooks: ({ entries }) =>
      new Map(entries.map(({ name, hooks }) => [name, HOOKS.filter((hook) => hooks[hook])])),
    sources: ({ entries }) => entries.flatMap(({ sources }) => sources),
  },
  schema,
  names: ["customPolicy"],
  access: {
    direction: "closes",
    directionOf: ({ entries }) => (entries.some(mayRefuse) ? "closes" : "changes"),
    restrictsAccess: true,
    checks: ({ entries }) => entries.flatMap((entry) => checkOf(entry) ?? []),
    compare: comparison(),
  },
  lowering: {
    merge: "replace",
    lower: (entries, origin) => ({
      entries: entries.map((each, index) => lowerEntry(each, index, childOf(origin, index))),
    }),
    partsOf: ({ entries }) => {
      const placed = entries.filter((each) => each.place !== undefined);
      const others = entries.filter((each) => each.place === undefined);
      return [
        ...(others.length === 0 ? [] : [{ config: { entries: others }, place: undefined }]),
        ...placed.map((each) => ({ config: { entries: [each] }, place: each.place })),
      ];
    },
    joinParts: (parts) => ({
      entries: parts.flatMap(({ entries }) => entries).toSorted((a, b) => a.index - b.index),
    }),
    resolve: ({ entries }, context) => {
      const resolved = entries.flatMap((each) => resolveEntry(each, context) ?? []);
      if (resolved.length < entries.length) return undefined;
      reportProvidedTwice(resolved, context);
      return { entries: resolved };
    },
  },
  kubernetes: {
    field: "traffic.custom",
    schema: kubernetesSchema,
    lower: (entries, context) => ({
      entries: entries.map((each, index) => lowerPublished(each, index, context)),
    }),
  },
};

function lowerPublished(
  {
    policy,
    with: options = {},
    secrets = {},
    timeout,
    failureMode: mode,
    ...order
  }: Infer<typeof publishedSchema>,
  index: number,
  { origin, secretFiles }: KubernetesContext,
): CustomEntryConfig {
  const at = childOf(origin, index);
  const files = Object.entries(secrets).map(([option, { name, key = "value" }]) => {
    const [file = ""] = secretFiles(name, [key], "word", childOf(at, "secrets", option));
    return [option, { kind: "secret", file }] as const;
  });
  return {
    ...{ use: `./policies/${policy}.ts`, options, allow: [], origin: at, index },
    place: orderPlace(order, true, at),
    timeout: timeout === undefined ? undefined : parseDuration(timeout),
    passesOnFailure: mode === "FailOpen",
    secrets: Object.fromEntries(files),
    isPublished: true,
  };
}

/** Returns the part of a policy in decisions on requests; `undefined` if it has none. */
function checkOf({ name, hooks, isIdentity, passesOnFailure, sources }: CustomEntry) {
  if (DECIDING_HOOKS.every((hook) => hooks[hook] === undefined)) return undefined;
  const what = `${isIdentity ? "authenticates callers with" : "runs"} the custom policy ${name}`;
  const decidesWho = mayRefuse({ hooks, sources });
  const refusesNobody = !decidesWho;
  return { kind: "outside", what, decidesWho, refusesNobody, passesOnFailure, isIdentity } as const;
}

/** Whether a policy can refuse a request before a backend gets it: its hooks could, and its code speaks of it. */
function mayRefuse({ hooks, sources }: Pick<CustomEntry, "hooks" | "sources">): boolean {
  return (
    DECIDING_HOOKS.some((hook) => hooks[hook] !== undefined) &&
    sources.some(({ text: code, imports }) => /\brefuse\b/.test(code) || imports.some(isPackage))
  );
}

/** Whether an import is a package, whose code is not read. */
function isPackage(specifier: string): boolean {
  return !specifier.startsWith(".") && !specifier.startsWith("node:") && specifier !== "gwc/policy";
}

function lowerEntry(
  {
    use,
    with: options = {},
    allow = [],
    timeout,
    failureMode: mode,
    ...order
  }: Infer<typeof entrySchema>,
  index: number,
  origin: Origin,
): CustomEntryConfig {
  return {
    ...{ use, options, allow, origin, index },
    place: orderPlace(order, false, origin),
    timeout: timeout === undefined ? undefined : parseDuration(timeout),
    passesOnFailure: mode === "failOpen",
    secrets: {},
    isPublished: false,
  };
}

/** Returns the place that a configuration gives to a policy. */
function orderPlace(
  { before, after }: { readonly before?: string | undefined; readonly after?: string | undefined },
  isOfManifest: boolean,
  origin: Origin,
): OrderPlace | undefined {
  const side = before === undefined ? "after" : "before";
  const name = before ?? after;
  return name === undefined
    ? undefined
    : { side, name, isOfManifest, origin: childOf(origin, side) };
}

function resolveEntry(config: CustomEntryConfig, context: ResolveContext): CustomEntry | undefined {
  const { use, options, allow, timeout, passesOnFailure, secrets, isPublished, origin } = config;
  const { index, place } = config;
  const named = namePlace(config);
  const read = readPolicyModule({ use, allow, isPublished }, named, context);
  if (read === undefined) return undefined;
  const { declaration, sources } = read;
  const { hooks, provides, isIdentity } = declaration;
  if (!hasMessages(hooks, use, named, context)) return undefined;
  if (isIdentity && passesOnFailure) {
    const message = `"failureMode: failOpen" would admit callers whom ${use} does not know`;
    context.diagnostics.report("policy-module", childOf(origin, "failureMode"), { message });
    return undefined;
  }
  const isAsync = HOOKS.some((hook) => hooks[hook]?.isAsync === true);
  if (timeout !== undefined && !isAsync) {
    const params = { field: '"timeout"', actsOn: "async hooks" };
    context.diagnostics.report("idle-callout-field", childOf(origin, "timeout"), params);
  }
  const at = childOf(origin, "with");
  const given = { options, secrets: Object.keys(secrets) };
  const resolved = resolveOptions(declaration.options, given, at, context);
  if (resolved === undefined) return undefined;
  return {
    name: use.replace(/^.*\//, "").replace(/\.ts$/, ""),
    ...{ options: resolved, secrets, index },
    order: place && `${place.side} ${place.name}`,
    deadline: timeout ?? DEADLINE,
    ...{ allow, passesOnFailure, sources, hooks, provides, isIdentity, named, origin },
  };
}

/** Hooks about tools of MCP servers, about texts of model calls, and about bodies. */
const TOOL_HOOKS = ["toolCall", "toolResult", "toolList"] as const;
const TEXT_HOOKS = ["prompt", "completion"] as const;
const BODY_HOOKS = ["requestBody", "responseBody", "responseStream"] as const;

/** Hooks that can refuse a request before a backend gets it. */
const DECIDING_HOOKS = ["request", "requestBody", "toolCall", "prompt", "connect"] as const;

/** Returns the place that names a policy. */
function namePlace({
  isPublished,
  origin,
}: Pick<CustomEntryConfig, "isPublished" | "origin">): Origin {
  return childOf(origin, isPublished ? "policy" : "use");
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
    diagnostics.report("policy-module", at, { message });
  }
  return misplaced.length === 0;
}

/** Reports values that two policies of a route provide: which one rules read would depend on the request. */
function reportProvidedTwice(
  entries: readonly CustomEntry[],
  { route, diagnostics }: ResolveContext,
): void {
  const before = route.identityFields.flatMap((each) => [...(each.providers ?? [])]);
  const providers = new Map<string, string>(before);
  for (const { name, provides, named } of entries) {
    for (const value of Object.keys(provides ?? {})) {
      const first = providers.get(value);
      if (first !== undefined)
        diagnostics.report("provided-twice", named, {
          value,
          first,
          second: name,
        });
      providers.set(value, name);
    }
  }
}

function comparison(): SettingsComparison<CustomNode> {
  return {
    changes: (before, after) => [
      ...listChanges("policy", refusing(before, true), refusing(after, true), "closes"),
      ...listChanges("policy", refusing(before, false), refusing(after, false), "changes"),
      ...after.entries.flatMap((entry, index) => {
        const old = before.entries[namesOf(before).indexOf(namesOf(after)[index] ?? "")];
        return old === undefined ? [] : entryChanges(old, entry);
      }),
    ],
    rest: ({ entries }) =>
      entries.map(({ name, options, secrets, deadline }) => ({ name, options, secrets, deadline })),
  };
}

/** Returns the names of policies that may refuse requests, or of those that do not. */
function refusing(node: CustomNode, isWanted: boolean): readonly string[] {
  return namesOf(node).filter((_, index) => {
    const entry = node.entries[index];
    return entry !== undefined && mayRefuse(entry) === isWanted;
  });
}

/** Returns the names of policies; those that are used several times are numbered. */
function namesOf({ entries }: CustomNode): readonly string[] {
  return entries.map(({ name }, index) => {
    const earlier = entries.slice(0, index).filter((each) => each.name === name).length;
    return earlier === 0 ? name : `${name} (${earlier + 1})`;
  });
}

function entryChanges(before: CustomEntry, after: CustomEntry): readonly SettingsChange[] {
  const { name } = after;
  const changed = changedModules(before.sources, after.sources);
  const changes: SettingsChange[] = changed.map((module) => ({
    direction: "changes",
    text: `code of ${module} changed: its effect on access is not decided`,
  }));
  if (before.passesOnFailure !== after.passesOnFailure) {
    const outcome = after.passesOnFailure ? "allowed" : "refused";
    const direction = after.passesOnFailure ? "opens" : "closes";
    changes.push({ direction, text: `if ${name} fails, requests are ${outcome}` });
  }
  if (before.order !== after.order) {
    const where = after.order ?? "at the place of custom policies";
    changes.push({ direction: "changes", text: `${name} runs ${where}` });
  }
  return [...changes, ...listChanges(`allow of ${name}`, before.allow, after.allow, "opens")];
}

function changedModules(
  before: readonly PolicySource[],
  after: readonly PolicySource[],
): readonly string[] {
  const old = new Map(before.map(({ module, text: code }) => [module, code]));
  return after.flatMap(({ module, text: code }) => (old.get(module) === code ? [] : [module]));
}
