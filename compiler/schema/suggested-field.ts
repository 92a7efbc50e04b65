import { type ConfigPath, formatPath } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { type ConfigValue, configValueAt } from "./config-values.ts";
import { isWritable, type Schema, schemaAt } from "./schema.ts";

/** Names of the fields of an object that can be used there, without aliases. */
export function knownFields(schema: Schema | undefined): readonly string[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, each]) =>
    isWritable(each) && each.aliasOf === undefined ? [name] : [],
  );
}

/** Returns the hint for a key or word that users often expect here, in any spelling. */
export function misplacedFieldHints(key: string, schema: Schema | undefined): string | undefined {
  const word = plainWord(key);
  const known = Object.entries(schema?.misplacedFieldHints ?? {});
  const said = known.find(([name]) => plainWord(name) === word)?.[1];
  if (said !== undefined) return said;
  // A header next to `set` and `add` belongs in `set`.
  const set = schema?.properties?.set;
  const takesNames = set?.type === "object" && set.properties === undefined;
  return takesNames && key.includes("-") ? `write set: { ${key}: … }` : undefined;
}

/**
 * Finds the field that an unknown key probably means: one that differs in a letter, one that begins with it, one with a
 * similar spelling, or one that contains its word (unless a section of the object has that field). `absent` are the known fields that the object lacks.
 */
export function suggestedField(
  key: string,
  schema: Schema | undefined,
  absent: readonly string[],
): string | undefined {
  return (
    suggest(key, absent, 1) ??
    absent.find((name) => key.length > 3 && plainWord(name).startsWith(plainWord(key))) ??
    suggest(key, absent) ??
    (sectionWith(key, schema, []) === undefined
      ? absent.find((name) => isWordOf(key, name))
      : undefined) ??
    suggest(key, knownFields(schema))
  );
}

/** Finds the known word that a word probably means: one with a similar spelling, or one that contains it. */
export function suggestedWord(word: string, known: readonly string[]): string | undefined {
  return suggest(word, known) ?? known.find((each) => isWordOf(word, each));
}

/**
 * Whether a key is a word of a name: `origins` of `allowOrigins`, `mcp_authorization` of `mcpAuthorization`, `jwt` of
 * `jwtAuth`.
 */
function isWordOf(key: string, name: string): boolean {
  const [word, whole] = [plainWord(key), plainWord(name)];
  if (word.length < 3) return false;
  return word === whole || whole.startsWith(word) || whole.endsWith(word);
}

function plainWord(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, "");
}

/** An object near an unknown key that has a field of this name. */
export interface FieldOwner {
  /** Its name in messages: `listeners`, `routes[0].policies`. */
  readonly name: string;
  /** Its path; `undefined` if it is any item of a list, or if several objects may be meant. */
  readonly path: ConfigPath | undefined;
  /** Its schema, or that of each object if several may be meant. */
  readonly schema: Schema | undefined;
}

/**
 * Finds the nearby object that has a field which the object at a path lacks: a section of the object (`given` are those
 * that it has), or an object around it; `undefined` if no nearby object has the field.
 */
export function otherOwner(
  key: string,
  path: ConfigPath,
  { root, value }: { readonly root: Schema; readonly value: ConfigValue },
  given: readonly string[],
): FieldOwner | undefined {
  const own = schemaAt(root, path)?.properties ?? {};
  const isAbsent = (place: ConfigPath): boolean =>
    configValueAt(value, [...place, key]) === undefined;
  const isNeeded = (place: ConfigPath): boolean => {
    const { required = [], exactlyOneOf = [], atLeastOneOf = [] } = schemaAt(root, place) ?? {};
    const isOpen = (names: readonly string[]): boolean =>
      names.includes(key) &&
      names.every((name) => configValueAt(value, [...place, name]) === undefined);
    return (
      (required.includes(key) && isAbsent(place)) || isOpen(exactlyOneOf) || isOpen(atLeastOneOf)
    );
  };
  const around = path.map((_, length) => path.slice(0, length)).findLast(isNeeded);
  if (around !== undefined)
    return { name: ownerPath(around), path: around, schema: schemaAt(root, around) };
  const siblings = given.filter((section) => {
    const inner = Object.hasOwn(own, section) ? own[section] : undefined;
    return hasField(inner?.items ?? inner, key);
  });
  const needy = siblings.find((section) => isNeeded([...path, section]));
  const lacking = siblings.filter((section) => isAbsent([...path, section]));
  const sibling = needy ?? lacking[0] ?? siblings[0];
  if (sibling !== undefined) {
    const owner = sectionOwner(sibling, [...path, sibling], root);
    return needy === undefined && lacking.length > 1 ? { ...owner, path: undefined } : owner;
  }
  for (let length = path.length; length >= 0; length -= 1) {
    const around = path.slice(0, length);
    const schema = schemaAt(root, around);
    // Scalars such as `path` or `name` are fields of many unrelated objects.
    const isFar = path.slice(length).filter((step) => typeof step === "string").length > 1;
    const isHere = (field: Schema): boolean => !isFar || !isScalar(field);
    if (length < path.length && hasField(schema, key, isHere))
      return { name: ownerPath(around), path: around, schema };
    const section = sectionWith(key, schema, path.slice(length), isHere);
    // Fields of other objects are unrelated to a policy, but policies may be on another level.
    const isNear = !path.slice(Math.max(0, length - 1), -1).includes("policies");
    if (section !== undefined && (isNear || section === "policies")) {
      const place = [...around, section];
      return sectionOwner(length === path.length ? section : ownerPath(place), place, root);
    }
  }
  return undefined;
}

function sectionOwner(name: string, path: ConfigPath, root: Schema): FieldOwner {
  const schema = schemaAt(root, path);
  return schema?.items === undefined
    ? { name, path, schema }
    : { name, path: undefined, schema: schema.items };
}

/** Finds the section of an object that has a field of this name, other than `inside`, which contains the key. */
function sectionWith(
  key: string,
  schema: Schema | undefined,
  [inside]: ConfigPath,
  isHere?: (field: Schema) => boolean,
): string | undefined {
  return knownFields(schema).find((section) => {
    const inner = schema?.properties?.[section];
    return section !== inside && hasField(inner?.items ?? inner, key, isHere);
  });
}

function isScalar({ type }: Schema): boolean {
  const types = [type ?? []].flat();
  return !types.includes("object") && !types.includes("array");
}

/** Returns the schema of a field of this name in the object at a path, or in the nearest object around it. */
export function fieldAround(key: string, path: ConfigPath, root: Schema): Schema | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const { properties = {} } = schemaAt(root, path.slice(0, length)) ?? {};
    if (Object.hasOwn(properties, key)) return properties[key];
  }
  return undefined;
}

/** Whether an object has a usable field of this name that satisfies the condition. */
export function hasField(
  schema: Schema | undefined,
  key: string,
  isSuch: (field: Schema) => boolean = () => true,
): boolean {
  const { properties } = schema ?? {};
  if (properties === undefined || !Object.hasOwn(properties, key)) return false;
  const field = properties[key];
  return field !== undefined && isWritable(field) && isSuch(field);
}

/** Formats the end of a path, from its last list item on: `routes[0].policies`. */
function ownerPath(path: ConfigPath): string {
  const item = path.findLastIndex((step) => typeof step === "number");
  return path.length === 0 ? "the file" : formatPath(path.slice(Math.max(0, item - 1)));
}
