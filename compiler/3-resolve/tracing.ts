import type { DestinationContext } from "../backends/parts/destination.ts";
import { type ExpressionConfig, resolveExpression } from "../backends/parts/expressions.ts";
import { type NamedField, OTHER_FIELDS } from "../config/access-log.ts";
import { SAME_IN_LOG, SPAN_ATTRIBUTES, type TracingConfig } from "../config/tracing.ts";
import { type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import type { AddedField } from "../ir/access-log.ts";
import type { SamplingNode } from "../ir/sampling.ts";
import type { ResourcesNode, SpanAttributesNode, TracingNode } from "../ir/tracing.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { checkAdded, type LoggedTraffic, lastOfEach, warnOfSecrets } from "./access-log.ts";
import { resolveCollector, resolveVariableCollector } from "./collector.ts";
import { resolveLogged } from "./logged-expression.ts";
import { resolveMessageCapture } from "./message-capture.ts";
import { checkShare, constantShare } from "./sampling-share.ts";

/** Resolves tracing; returns `undefined` if a mistake was reported. */
export function resolveTracing(
  config: TracingConfig,
  { secretHeaders, callsModels }: Pick<LoggedTraffic, "secretHeaders" | "callsModels">,
  context: DestinationContext,
): TracingNode | undefined {
  const { diagnostics } = context;
  const collector =
    "kind" in config.collector
      ? resolveVariableCollector(config.collector, context)
      : resolveCollector(config.collector, context);
  const attributes = resolveAttributes(config, secretHeaders, diagnostics);
  const resources = resolveResources(config, diagnostics);
  const randomSampling = resolveSampling(config.randomSampling, diagnostics);
  const clientSampling = resolveSampling(config.clientSampling, diagnostics);
  const { capture, origin } = config;
  const messages = capture && resolveMessageCapture(capture, callsModels, diagnostics);
  const filter =
    config.filter && resolveLogged(config.filter, { phase: "log", slot: "filter" }, diagnostics);
  if (isNever(randomSampling, "never") && isNever(clientSampling, "always")) {
    diagnostics.report("nothing-traced", keyPlace(origin), {});
  } else if (config.randomSampling === undefined) {
    diagnostics.report("no-new-traces", keyPlace(origin), {});
  }
  if (collector === undefined) return undefined;
  return {
    collector,
    randomSampling,
    clientSampling,
    filter: filter && config.filter && { value: filter, origin: config.filter.origin },
    attributes,
    resources,
    ...(messages && { messages }),
    origin,
  };
}

/** Variables that are known before any policy runs. */
const KNOWN_AT_FIRST: ReadonlySet<string> = new Set(["request", "source", "env"]);

function resolveSampling(
  config: ExpressionConfig | undefined,
  diagnostics: Diagnostics,
): SamplingNode | undefined {
  if (config === undefined) return undefined;
  const { origin } = config;
  const value = resolveExpression(config, { phase: "request", slot: "value" }, diagnostics);
  if (value === undefined) return undefined;
  const unknown = value.reads.find(
    ([root = "", member]) => !KNOWN_AT_FIRST.has(root) || member === "body",
  );
  if (unknown !== undefined) {
    diagnostics.report("sampling-unknown", origin, { name: unknown.join(".") });
  }
  checkShare(value, origin, diagnostics);
  return { value, origin };
}

/** Whether no request is sampled; `otherwise` is the default. */
function isNever(sampling: SamplingNode | undefined, otherwise: "always" | "never"): boolean {
  if (sampling === undefined) return otherwise === "never";
  const { source } = sampling.value;
  return source === "false" || constantShare(source) === 0;
}

function resolveAttributes(
  { add, remove, origin }: TracingConfig,
  secretHeaders: readonly string[],
  diagnostics: Diagnostics,
): SpanAttributesNode | undefined {
  checkAdded(add, diagnostics);
  const removed = knownAttributes(remove, add, diagnostics);
  const added = add.flatMap((field): readonly AddedField[] => {
    const value = resolveLogged(field, { phase: "log", slot: "value" }, diagnostics);
    if (value !== undefined) warnOfSecrets(field, value, secretHeaders, diagnostics);
    return value === undefined ? [] : [{ name: field.name, value }];
  });
  if (remove.length === 0 && add.length === 0) return undefined;
  const gone = new Set([...removed, ...add.map(({ name }) => name)]);
  return {
    defaults: SPAN_ATTRIBUTES.filter((name) => !gone.has(name)),
    without: OTHER_FIELDS.filter((name) => gone.has(name)),
    added: lastOfEach(added),
    origin,
  };
}

/** Returns the names of removed attributes; reports those that no span has. */
function knownAttributes(
  remove: readonly NamedField[],
  add: readonly NamedField[],
  diagnostics: Diagnostics,
): readonly string[] {
  const known = [...SPAN_ATTRIBUTES, ...OTHER_FIELDS];
  return remove.flatMap(({ name, origin }) => {
    const sameInLog = SAME_IN_LOG[name];
    if (sameInLog !== undefined) return [sameInLog];
    if (known.includes(name) || add.some((field) => field.name === name)) return [name];
    const suggestion = suggest(name, known);
    diagnostics.report("unknown-span-attribute", origin, {
      name,
      suggestion,
      known: SPAN_ATTRIBUTES.join(", "),
    });
    return [];
  });
}

/** Resolves resource attributes, which are evaluated once at start. */
function resolveResources(
  { resources }: TracingConfig,
  diagnostics: Diagnostics,
): ResourcesNode | undefined {
  const [first] = resources;
  if (first === undefined) return undefined;
  checkAdded(resources, diagnostics);
  const added = resources.flatMap((field): readonly AddedField[] => {
    const value = resolveLogged(field, { phase: "log", slot: "value" }, diagnostics);
    if (value === undefined || !isKnownAtStart(value, field.origin, diagnostics)) return [];
    return [{ name: field.name, value }];
  });
  return { added, origin: { ...first.origin, path: sectionPath(first.origin) } };
}

function isKnownAtStart(
  { reads }: CompiledExpression,
  origin: Origin,
  diagnostics: Diagnostics,
): boolean {
  const unknown = reads.find(([root]) => root !== "env");
  if (unknown === undefined) return true;
  diagnostics.report("resource-of-request", origin, { name: unknown.join(".") });
  return false;
}

function sectionPath({ path }: Origin): Origin["path"] {
  return path.slice(0, path.lastIndexOf("resources") + 1);
}
