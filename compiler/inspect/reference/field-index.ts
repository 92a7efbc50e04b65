import { kinds } from "../../1-parse/kubernetes/kinds.ts";
import { standaloneSchema } from "../../1-parse/standalone/standalone.ts";
import { CachedByObject } from "../../cached-results.ts";
import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import { type Schema, schemaAt } from "../../schema/schema.ts";

/** A field or section of the standalone file or of a manifest. */
export interface FieldEntry {
  /** `gateway.yaml`, or the kind of a manifest. */
  readonly form: string;
  /** Keys, with `[]` after that of a list and `*` for any key; empty for the whole document. */
  readonly path: readonly string[];
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** Name of the standalone form. */
export const FILE_FORM = "gateway.yaml";

/** Lists every field of both forms, parents first. */
export function allFields(): readonly FieldEntry[] {
  const forms = [
    { form: FILE_FORM, schema: standaloneSchema() },
    ...kinds.map(({ kind, schema }) => ({ form: kind as string, schema: schema() })),
  ];
  return forms.flatMap(({ form, schema }) => {
    const whole = { form, path: [], isRequired: false, schema };
    return [whole, ...fieldsBelow(whole)];
  });
}

/** Returns the field at a path of a document of this form; `undefined` if the schema does not define it. */
export function fieldAt(form: string, schema: Schema, path: ConfigPath): FieldEntry | undefined {
  let entry: FieldEntry | undefined = { form, path: [], isRequired: false, schema };
  for (const step of path) {
    if (entry === undefined) return undefined;
    entry = typeof step === "number" ? itemOf(entry) : propertyOf(entry, step);
  }
  return entry;
}

function itemOf(entry: FieldEntry): FieldEntry | undefined {
  const { path, schema } = entry;
  return (
    schema.items && {
      ...entry,
      path: [...path.slice(0, -1), `${path.at(-1) ?? ""}[]`],
      schema: schema.items,
    }
  );
}

function propertyOf({ form, path, schema }: FieldEntry, key: string): FieldEntry | undefined {
  const found = schemaAt(schema, [key]);
  if (found === undefined) return undefined;
  const isNamed = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
  const isRequired = schema.required?.includes(key) === true;
  return { form, path: [...path, isNamed ? key : "*"], isRequired, schema: found };
}

/**
 * Finds fields by a path or its end: `requestTimeout`, `timeout.requestTimeout`, `binds[0].port`, `gateways.default.port`,
 * `GatewayPolicy.spec.traffic`. A whole path takes precedence over the end of one. A name that the user chooses may be
 * missing, and the path of a name alone is that of its mapping.
 */
export function fieldsNamed(words: string, fields: readonly FieldEntry[]): readonly FieldEntry[] {
  const steps = plainSteps(words.split("."));
  const found = fieldsEndingWith(steps, fields);
  if (found.length > 0 || steps.length < 2) return found;
  return fieldsEndingWith(steps.slice(0, -1), fields).filter(
    ({ schema }) => typeof schema.additionalProperties === "object",
  );
}

function fieldsEndingWith(
  steps: readonly string[],
  fields: readonly FieldEntry[],
): readonly FieldEntry[] {
  const [first, ...rest] = steps;
  const isOfForm = ({ form, path }: FieldEntry) => form === first && path.length === rest.length;
  if (fields.some(({ form }) => form === first))
    return fields.filter((each) => isOfForm(each) && endsWith(each.path, rest, true));
  const last = lastSteps.of(fields, () =>
    Map.groupBy(fields, ({ path }) => plainStep(path.at(-1) ?? "")),
  );
  const candidates = last.get(steps.at(-1) ?? "") ?? [];
  const whole = candidates.filter(({ path }) => endsWith(path, steps, true));
  return whole.length > 0 ? whole : candidates.filter(({ path }) => endsWith(path, steps, false));
}

/** Fields by the last key of their paths. */
const lastSteps = new CachedByObject<
  readonly FieldEntry[],
  ReadonlyMap<string, readonly FieldEntry[]>
>();

/** Whether a path ends with these steps. A `*` of the path matches any step, and none. */
function endsWith(path: readonly string[], steps: readonly string[], isWhole: boolean): boolean {
  const key = path.at(-1);
  const step = steps.at(-1);
  if (step === undefined) return !isWhole || path.length === 0;
  if (key === undefined) return false;
  const [before, earlier] = [path.slice(0, -1), steps.slice(0, -1)];
  const isName = key === "*";
  if (isName && endsWith(before, steps, isWhole)) return true;
  return (isName || step === plainStep(key)) && endsWith(before, earlier, isWhole);
}

function plainSteps(steps: readonly string[]): readonly string[] {
  return steps.map(plainStep);
}

/** Removes `[]` or `[0]` from a step. */
function plainStep(step: string): string {
  return step.endsWith("]") ? step.replace(/(\[\d*\])+$/, "") : step;
}

function fieldsBelow({ form, path, schema }: FieldEntry): readonly FieldEntry[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const isRequired = schema.required?.includes(name) === true;
    return withBelow({ form, path: [...path, name], isRequired, schema: each });
  });
}

function withBelow(entry: FieldEntry): readonly FieldEntry[] {
  const { path, schema } = entry;
  const { items, additionalProperties } = schema;
  const last = path.at(-1) ?? "";
  const inner: FieldEntry[] = [];
  if (items !== undefined)
    inner.push({ ...entry, path: [...path.slice(0, -1), `${last}[]`], schema: items });
  if (typeof additionalProperties === "object")
    inner.push({ ...entry, path: [...path, "*"], schema: additionalProperties });
  return [entry, ...fieldsBelow(entry), ...inner.flatMap(fieldsBelow)];
}
