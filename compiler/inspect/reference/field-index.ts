import { kinds } from "../../1-parse/kubernetes/kinds.ts";
import { standaloneSchema } from "../../1-parse/standalone/standalone.ts";
import type { Schema } from "../../schema/schema.ts";

/** A field or a section of one of the two forms. */
export interface FieldEntry {
  /** `gateway.yaml`, or the kind of a manifest. */
  readonly form: string;
  /** Its path: keys, with `[]` behind that of a list, `*` for any key. Empty: the whole of it. */
  readonly path: readonly string[];
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** What the standalone form is called here. */
export const FILE_FORM = "gateway.yaml";

/** Every field of both forms, what is around it first. */
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

/**
 * The fields that words mean: `requestTimeout`, `timeout.requestTimeout`, `binds[0].port`, `GatewayPolicy.spec.traffic`. A
 * whole path stands before the end of one.
 */
export function fieldsNamed(words: string, fields: readonly FieldEntry[]): readonly FieldEntry[] {
  const steps = plainSteps(words.split("."));
  const [first, ...rest] = steps;
  const ofForm = fields.filter(({ form }) => form === first);
  if (ofForm.length > 0) return ofForm.filter(({ path }) => endsWith(path, rest, true));
  const whole = fields.filter(({ path }) => endsWith(path, steps, true));
  return whole.length > 0 ? whole : fields.filter(({ path }) => endsWith(path, steps, false));
}

function endsWith(path: readonly string[], steps: readonly string[], isWhole: boolean): boolean {
  const before = path.length - steps.length;
  if (before < 0 || (isWhole && before > 0)) return false;
  return steps.every((step, index) => step === plainStep(path[before + index] ?? ""));
}

function plainSteps(steps: readonly string[]): readonly string[] {
  return steps.map(plainStep);
}

/** A step without the marks of a list or of an item behind it. */
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
