import { childOf, type Diagnostics, keyPlace, placeKey } from "../../diagnostics/diagnostic.ts";
import type { NamedExpression } from "../../model/expressions.ts";
import {
  type Configured,
  type LlmPolicies,
  type ProviderPolicies,
  type RouteType,
  SINGLE_TYPES,
} from "../../model/llm-policies.ts";
import type { ProviderConfig } from "./ai-config.ts";
import {
  type ProviderKind,
  type ProviderOptions,
  providerOf,
  providers,
} from "./providers/index.ts";

/** The effective settings of a provider, as far as they are checked. */
interface CheckedProvider {
  /** Fixed model; `undefined` if the request names it. */
  readonly model: string | undefined;
  readonly policies: ProviderPolicies | undefined;
}

/**
 * Reports provider settings that have no effect or are likely mistakes; `resolved` has the same providers with
 * inherited policies.
 */
export function checkProviders(
  all: readonly ProviderConfig[],
  resolved: readonly CheckedProvider[],
  types: ReadonlySet<RouteType>,
  diagnostics: Diagnostics,
): void {
  for (const provider of all) {
    reportRegion(provider, diagnostics);
    reportForeignModel(provider, diagnostics);
  }
  const policies = resolved.map((each) => each.policies);
  const open = resolved.filter(({ model }) => model === undefined);
  const used = distinct(open.map((each) => each.policies?.modelAliases)).map(placeOf);
  for (const each of distinct(policies.map((own) => own?.modelAliases))) {
    if (used.includes(placeOf(each))) reportAliases(each, diagnostics);
    else diagnostics.report("idle-aliases", keyPlace(each.origin), {});
  }
  for (const part of ["defaults", "overrides"] as const) {
    for (const { value, origin } of distinct(policies.map((own) => own?.[part]))) {
      const fields = Object.keys(value).map((name) => ({ name, origin: childOf(origin, name) }));
      reportFixedFields(fields, diagnostics);
    }
  }
  for (const each of distinct(policies.map((own) => own?.prompts))) reportRoles(each, diagnostics);
  const naming = distinct(open.map((each) => each.policies?.transformations)).map(placeOf);
  for (const part of distinct(policies.map((own) => own?.transformations))) {
    // If no model is fixed, an expression may choose it.
    const isNaming = naming.includes(placeOf(part));
    const fields = part.value.filter(({ name }) => !isNaming || name !== "model");
    reportFixedFields(fields, diagnostics);
  }
  for (const part of distinct(policies.map((own) => own?.finalTransformations)))
    reportFixedFields(part.value, diagnostics);
  for (const { field, acts, on } of EDITS) {
    if (acts.some((type) => types.has(type))) continue;
    for (const { origin } of distinct<unknown>(policies.map((own) => own?.[field]))) {
      const params = { field, actsOn: on, found: [...types].join(", ") };
      diagnostics.report("misplaced-field", keyPlace(origin), params);
    }
  }
}

const CHATS: readonly RouteType[] = [
  ...(["Completions", "Messages", "Responses", "GenerateContent", "Converse"] as const),
];

/** Types whose requests have fields that policies can set. */
const EDITED: readonly RouteType[] = [...CHATS, "Embeddings", ...SINGLE_TYPES];

/** Types without a chat whose responses may be streams. */
const MEDIA_STREAMS: readonly RouteType[] = [
  ...(["Speech", "Transcriptions", "Images", "ImageEdits"] as const),
];

/** Policies that change requests, each with the route types it can act on. */
const EDITS = [
  {
    field: "prompts",
    acts: [...CHATS, "TokenCount", "ContentTokenCount"],
    on: "chats with models",
  },
  { field: "streamKeepAlive", acts: [...CHATS, ...MEDIA_STREAMS], on: "chats with models" },
  { field: "defaults", acts: EDITED, on: "requests to models" },
  { field: "overrides", acts: EDITED, on: "requests to models" },
  { field: "transformations", acts: EDITED, on: "requests to models" },
  { field: "finalTransformations", acts: [...CHATS, "Embeddings"], on: "requests to models" },
] as const satisfies readonly {
  readonly field: keyof LlmPolicies;
  readonly acts: readonly RouteType[];
  readonly on: string;
}[];

function reportRegion(
  { name, options, optionsOrigin, server }: ProviderConfig,
  diagnostics: Diagnostics,
): void {
  const region = server === undefined ? assumedRegion(options) : undefined;
  if (region !== undefined) diagnostics.report("assumed-region", optionsOrigin, { name, region });
}

function assumedRegion<Kind extends ProviderKind>({
  kind,
  value,
}: ProviderOptions<Kind>): string | undefined {
  return providerOf<Kind>(kind).assumedRegion?.(value);
}

/** Reports a model name of another provider. Compatible servers of others may have models of any name. */
function reportForeignModel(
  { options: { kind, value }, optionsOrigin, server }: ProviderConfig,
  diagnostics: Diagnostics,
): void {
  const { modelPrefixes: own } = providerOf(kind);
  const { model } = value;
  if (model === undefined || own === undefined || server !== undefined) return;
  if (own.some((prefix) => model.startsWith(prefix))) return;
  const other = providers.find(({ modelPrefixes = [] }) =>
    modelPrefixes.some((prefix) => model.startsWith(prefix)),
  );
  const params = { model, provider: kind, prefixes: own, other: other?.kind };
  diagnostics.report("foreign-model", childOf(optionsOrigin, "model"), params);
}

/** Reports fields that take effect too late: they decide where a request goes before policies set them. */
function reportFixedFields(
  fields: readonly Pick<NamedExpression, "name" | "origin">[],
  diagnostics: Diagnostics,
): void {
  for (const { name, origin } of fields) {
    if (name === "model" || name === "stream") {
      diagnostics.report("fixed-request-field", keyPlace(origin), { field: name });
    }
  }
}

function reportRoles(
  { value, origin }: NonNullable<LlmPolicies["prompts"]>,
  diagnostics: Diagnostics,
): void {
  for (const part of ["prepend", "append"] as const) {
    for (const [index, { role }] of value[part].entries()) {
      if (ROLES.includes(role)) continue;
      const at = childOf(origin, part, index, "role");
      diagnostics.report("unknown-prompt-role", at, { role, roles: ROLES });
    }
  }
}

/** Roles of messages that can be added to a prompt; tool results need a call. */
const ROLES: readonly string[] = ["system", "developer", "user", "assistant"];

/** Reports aliases of aliases. Names are replaced once, so such an alias does not reach the final model. */
function reportAliases(
  { value, origin }: NonNullable<LlmPolicies["modelAliases"]>,
  diagnostics: Diagnostics,
): void {
  const reported = new Set<string>();
  for (const alias of Object.keys(value)) {
    const names = followed(alias, value);
    const [, model = "", further] = names;
    if (further === undefined || reported.has(alias)) continue;
    const isCircle = names.at(-1) === alias;
    if (isCircle) for (const name of names) reported.add(name);
    const params = { alias, model, circle: isCircle ? names : undefined };
    diagnostics.report("alias-of-alias", childOf(origin, alias), params);
  }
}

/** Follows an alias until a name is not an alias or repeats. */
function followed(alias: string, aliases: Readonly<Record<string, string>>): readonly string[] {
  const names = [alias];
  for (;;) {
    const last = names.at(-1) ?? alias;
    const next = Object.hasOwn(aliases, last) ? aliases[last] : undefined;
    if (next === undefined) return names;
    const isKnown = names.includes(next);
    names.push(next);
    if (isKnown) return names;
  }
}

/** Returns the defined parts, once per location in the configuration. */
function distinct<Value>(
  parts: readonly (Configured<Value> | undefined)[],
): readonly Configured<Value>[] {
  const byPlace = new Map<string, Configured<Value>>();
  for (const part of parts) if (part !== undefined) byPlace.set(placeOf(part), part);
  return [...byPlace.values()];
}

function placeOf({ origin }: Configured<unknown>): string {
  return placeKey(origin);
}
