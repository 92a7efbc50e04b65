import type { DestinationContext } from "../backends/parts/destination.ts";
import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import {
  type AccessLogConfig,
  LINE_FIELDS,
  type NamedField,
  OTHER_FIELDS,
  OWN_FIELDS,
  type RecordsConfig,
  TRACE_FIELDS,
} from "../config/access-log.ts";
import { type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import type { AccessLogNode, AddedField, LogFieldsNode, LogRecordsNode } from "../ir/access-log.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { resolveCollector } from "./collector.ts";
import { resolveLogged } from "./logged-expression.ts";
import { resolveMessageCapture } from "./message-capture.ts";

/** Traffic that access lines are about. */
export interface LoggedTraffic {
  /** Headers that contain keys. */
  readonly secretHeaders: readonly string[];
  /** Whether any port serves TCP routes. */
  readonly hasConnections: boolean;
  /** Whether requests can be traced. */
  readonly isTraced: boolean;
  /** Whether any route calls models. */
  readonly callsModels: boolean;
}

/**
 * Resolves access lines, with later configurations overriding earlier ones; reports mistakes, and returns
 * `undefined` for the default lines.
 */
export function resolveAccessLog(
  configs: readonly AccessLogConfig[],
  { secretHeaders, hasConnections, isTraced, callsModels }: LoggedTraffic,
  context: DestinationContext,
): AccessLogNode | undefined {
  const { diagnostics } = context;
  const exporting = configs.findLast((config) => config.collector !== undefined);
  const server = exporting?.collector;
  const collector = server && resolveCollector(server, context);
  const given = configs.flatMap(({ filter }) => filter ?? []);
  // A filter whose mistakes are tolerated hides no request.
  const filters = given.map((filter) =>
    resolveLogged(filter, { phase: "log", slot: "filter" }, diagnostics),
  );
  const remove = configs.flatMap((config) => config.remove);
  const add = configs.flatMap((config) => config.add);
  for (const config of configs) {
    checkAdded(config.add, diagnostics);
    for (const { name, origin } of config.add) {
      if (OWN_FIELDS.has(name))
        diagnostics.report("reserved-log-field", keyPlace(origin), { name });
    }
  }
  reportTwoFilters(given, diagnostics);
  const removed = knownFields(remove, add, diagnostics);
  const added = configs.flatMap(({ add: fields }, at) =>
    fields.flatMap((field): readonly AddedField[] => {
      const value = resolveLogged(field, { phase: "log", slot: "value" }, diagnostics);
      if (value !== undefined) warnOfSecrets(field, value, secretHeaders, diagnostics);
      const isRemoved = configs
        .slice(at + 1)
        .some((later) => later.remove.some(({ name }) => name === field.name));
      return value === undefined || isRemoved ? [] : [{ name: field.name, value }];
    }),
  );
  const records =
    exporting?.records &&
    resolveRecords(exporting.records, { secretHeaders, isTraced, callsModels }, diagnostics);
  const unread = [...given, ...add].at(0);
  if (hasConnections && unread !== undefined) {
    diagnostics.report("log-of-requests", unread.origin, {});
  }
  const place = remove[0]?.origin ?? add[0]?.origin;
  const filterOrigin = given.at(-1)?.origin ?? place ?? server?.destination.origin;
  if (filterOrigin === undefined) return undefined;
  return {
    collector,
    filter: filters.at(-1),
    filterOrigin,
    fields: place && fieldsOf(removed, lastOfEach(added), { isTraced, origin: sectionOf(place) }),
    ...(records && { records }),
  };
}

/** Resolves what differs between records and lines; returns `undefined` if nothing does. */
function resolveRecords(
  { filter, fields, capture }: RecordsConfig,
  { secretHeaders, isTraced, callsModels }: Omit<LoggedTraffic, "hasConnections">,
  diagnostics: Diagnostics,
): LogRecordsNode | undefined {
  const test = filter && resolveLogged(filter, { phase: "log", slot: "filter" }, diagnostics);
  if (fields !== undefined) checkAdded(fields.add, diagnostics);
  const removed = fields && knownFields(fields.remove, fields.add, diagnostics);
  const added = fields?.add.flatMap((field): readonly AddedField[] => {
    const value = resolveLogged(field, { phase: "log", slot: "value" }, diagnostics);
    if (value === undefined) return [];
    warnOfSecrets(field, value, secretHeaders, diagnostics);
    return [{ name: field.name, value }];
  });
  const messages = capture && resolveMessageCapture(capture, callsModels, diagnostics);
  if ((filter ?? fields ?? messages) === undefined) return undefined;
  return {
    filter: test && filter && { ...test, origin: filter.origin },
    fields:
      removed && added && fields && fieldsOf(removed, added, { isTraced, origin: fields.origin }),
    ...(messages && { messages }),
  };
}

/** Reports two filters in a file, of which one overrides the other. Policies of a cluster are meant to. */
function reportTwoFilters([first, second]: readonly ExpressionConfig[], diagnostics: Diagnostics) {
  const isOf = (section: string, config: ExpressionConfig | undefined) =>
    config?.origin.path.includes(section) === true;
  if (first === undefined || !isOf("logging", first) || !isOf("frontendPolicies", second)) return;
  if (isOf("config", first)) diagnostics.report("log-filter-twice", keyPlace(first.origin), {});
}

/** Returns the last field of each name. */
export function lastOfEach(added: readonly AddedField[]): readonly AddedField[] {
  return [...new Map(added.map((field) => [field.name, field])).values()];
}

function fieldsOf(
  remove: readonly NamedField[],
  added: readonly AddedField[],
  { isTraced, origin }: { readonly isTraced: boolean; readonly origin: Origin },
): LogFieldsNode {
  const gone = new Set([...remove, ...added].map(({ name }) => name));
  return {
    removed: [...new Set(remove.map(({ name }) => name))].toSorted(),
    defaults: LINE_FIELDS.filter(
      (name) => !gone.has(name) && (isTraced || !TRACE_FIELDS.includes(name)),
    ),
    without: OTHER_FIELDS.filter((name) => gone.has(name)),
    added,
    origin,
  };
}

/** Returns the location of the section that contains `remove` or `add`. */
function sectionOf(origin: Origin): Origin {
  const at = origin.path.findLastIndex((step) => step === "remove" || step === "add");
  return { ...origin, path: origin.path.slice(0, at) };
}

const FIELD_NAME = /^[A-Za-z_][\w.:/@-]*$/;

/** Returns the fields that can be removed; reports the others. */
function knownFields(
  remove: readonly NamedField[],
  add: readonly NamedField[],
  diagnostics: Diagnostics,
): readonly NamedField[] {
  const known = [...LINE_FIELDS, ...OTHER_FIELDS];
  return remove.filter(({ name, origin }) => {
    if (known.includes(name) || add.some((field) => field.name === name)) return true;
    const suggestion = suggest(name, known);
    const params = { name, suggestion, known: LINE_FIELDS.join(", ") };
    diagnostics.report("unknown-log-field", origin, params);
    return false;
  });
}

/** Reports invalid and duplicate field names. */
export function checkAdded(add: readonly NamedField[], diagnostics: Diagnostics): void {
  const seen = new Set<string>();
  for (const { name, origin } of add) {
    if (!FIELD_NAME.test(name)) diagnostics.report("log-field-name", keyPlace(origin), { name });
    if (seen.has(name)) diagnostics.report("duplicate-log-field", origin, { name });
    seen.add(name);
  }
}

/** Types whose values cannot reveal secrets. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["bool", "int", "uint", "double", "null", "timestamp", "duration"],
]);

/** Names of headers that usually carry secrets. */
const SECRET_HEADER = /authorization|cookie|token|secret|passw|api-?key|credential|session/;

/** Warns about a field that could log a secret. */
export function warnOfSecrets(
  { name: field, origin }: NamedField,
  { type, reads }: CompiledExpression,
  secretHeaders: readonly string[],
  diagnostics: Diagnostics,
): void {
  if (HARMLESS.has(type)) return;
  const isSecret = (header: string): boolean =>
    SECRET_HEADER.test(header) || secretHeaders.includes(header);
  for (const [root = "", member, header] of reads) {
    const what =
      member !== "headers"
        ? QUERIES[`${root}.${member}`]
        : header === undefined
          ? `every header of the ${root}`
          : isSecret(header)
            ? `the header "${header}"`
            : undefined;
    if (what === undefined) continue;
    diagnostics.report("log-credential", origin, { what, field });
    return;
  }
}

const QUERIES: Readonly<Record<string, string>> = {
  "request.uri": "the query string",
  "request.pathAndQuery": "the query string",
};
