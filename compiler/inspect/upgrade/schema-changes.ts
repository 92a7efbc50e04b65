import { isJsonObject } from "../../../runtime/json/json-object.ts";
import {
  type AnySchema,
  asFields,
  changesOfValue,
  type Resolve,
  type ValueChange,
} from "./value-changes.ts";

/** A difference at its place: keys, with `[]` for the items of a list and `*` for any key. */
export interface PlacedChange {
  readonly path: string;
  readonly change: ValueChange;
}

/** Two versions of the schema of the same value. */
export interface SchemaPair {
  readonly before: AnySchema;
  readonly now: AnySchema;
}

/** Follows schemas of two whole documents, with the definitions that they refer to. */
export class ComparedSchemas {
  readonly root: SchemaPair;

  constructor(before: AnySchema, now: AnySchema) {
    this.root = { before, now };
  }

  /** Lists all differences, each at its shortest path. A shape that several fields share is compared once. */
  all(): readonly PlacedChange[] {
    const found: PlacedChange[] = [];
    const seen = new Map<AnySchema, Set<AnySchema>>();
    let level = [{ path: "", pair: this.root }];
    while (level.length > 0) {
      const next: typeof level = [];
      for (const { path, pair } of level) {
        const others = seen.get(pair.before) ?? new Set();
        if (others.has(pair.now)) continue;
        seen.set(pair.before, others.add(pair.now));
        for (const change of changesOfValue(pair.before, pair.now, this.resolverOf()))
          found.push({ path: joined(path, change.field), change });
        for (const { step, pair: inner } of this.#inside(pair))
          next.push({ path: step === "[]" ? `${path}[]` : joined(path, step), pair: inner });
      }
      level = next;
    }
    return found;
  }

  /** Returns the pair of a field or an item; `undefined` if one of the versions does not have it. */
  child(pair: SchemaPair, step: string | number): SchemaPair | undefined {
    const of = ({ items, properties, additionalProperties }: AnySchema, whole: AnySchema) => {
      const named = typeof step === "number" ? items : asFields(properties)[step];
      return resolved(
        named ?? (typeof step === "number" ? undefined : additionalProperties),
        whole,
      );
    };
    const before = of(pair.before, this.root.before);
    const now = of(pair.now, this.root.now);
    return before === undefined || now === undefined ? undefined : { before, now };
  }

  /** Returns a function that follows references to definitions. */
  resolverOf(): Resolve {
    return (schema, version) => resolved(schema, this.root[version]);
  }

  #inside(pair: SchemaPair): readonly { readonly step: string; readonly pair: SchemaPair }[] {
    const names = Object.keys(asFields(pair.before.properties)).filter((name) =>
      Object.hasOwn(asFields(pair.now.properties), name),
    );
    const anyKey = isJsonObject(pair.before.additionalProperties) ? ["*"] : [];
    const fields = [...names, ...anyKey].map((step) => ({ step, pair: this.child(pair, step) }));
    return [...fields, { step: "[]", pair: this.child(pair, 0) }].flatMap(
      ({ step, pair: inner }) => (inner === undefined ? [] : [{ step, pair: inner }]),
    );
  }
}

/** Follows a reference to a definition. */
function resolved(schema: unknown, whole: AnySchema): AnySchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  const name = /^#\/\$defs\/(.+)$/.exec(String(schema.$ref))?.[1];
  return name === undefined ? schema : resolved(asFields(whole.$defs)[name], whole);
}

function joined(path: string, field: string | undefined): string {
  if (field === undefined) return path;
  return path === "" ? field : `${path}.${field}`;
}
