import { type ConfigPath, formatPath } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { isWritable, type Schema, schemaAt } from "./schema.ts";

/** The fields of an object by their own names, of those that can be used there. */
export function knownFields(schema: Schema | undefined): readonly string[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, each]) =>
    isWritable(each) && each.aliasOf === undefined ? [name] : [],
  );
}

/** What the schema of an object says of a key that people look for in it, however they write its words. */
export function misplacedFieldHints(key: string, schema: Schema | undefined): string | undefined {
  const word = plainWord(key);
  const known = Object.entries(schema?.misplacedFieldHints ?? {});
  const said = known.find(([name]) => plainWord(name) === word)?.[1];
  if (said !== undefined) return said;
  // A header beside the changes to headers is meant to be set.
  const set = schema?.properties?.set;
  const takesNames = set?.type === "object" && set.properties === undefined;
  return takesNames && key.includes("-") ? `write set: { ${key}: … }` : undefined;
}

/**
 * The field of an object that an unknown key stands for: one that is spelled alike, one of whose words it is (unless it is
 * a field of a section of the object), or the only one that is needed and missing. `absent` are the known fields that the
 * object has not.
 */
export function meantField(
  key: string,
  schema: Schema | undefined,
  { absent, isAlone }: { readonly absent: readonly string[]; readonly isAlone: boolean },
): string | undefined {
  const near =
    suggest(key, absent) ??
    (sectionWith(key, schema, []) === undefined
      ? absent.find((name) => isWordOf(key, name))
      : undefined) ??
    suggest(key, knownFields(schema));
  if (near !== undefined) return near;
  const missing = schema?.required?.filter((name) => absent.includes(name)) ?? [];
  return isAlone && missing.length === 1 ? missing[0] : undefined;
}

/** The one of a few words that another one stands for: one that is spelled alike, or one of whose words it is. */
export function meantWord(word: string, known: readonly string[]): string | undefined {
  return suggest(word, known) ?? known.find((each) => isWordOf(word, each));
}

/** `origins` of `allowOrigins`, `mcp_authorization` of `mcpAuthorization`, `jwt` of `jwtAuth`. */
function isWordOf(key: string, name: string): boolean {
  const [word, whole] = [plainWord(key), plainWord(name)];
  if (word.length < 3) return false;
  return word === whole || whole.startsWith(word) || whole.endsWith(word);
}

function plainWord(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, "");
}

/**
 * Where a key stands that the object at a path has not: in a section of the object (`given`: of those that it has, if
 * one of them knows the key), or in one around it. As messages name it: `listeners`, `routes[0].policies`; undefined when
 * it stands nowhere near.
 */
export function otherOwner(
  key: string,
  path: ConfigPath,
  root: Schema,
  given: readonly string[],
): string | undefined {
  const own = schemaAt(root, path)?.properties ?? {};
  const beside = given.find((section) => {
    const inner = Object.hasOwn(own, section) ? own[section] : undefined;
    return hasField(inner?.items ?? inner, key);
  });
  if (beside !== undefined) return beside;
  for (let length = path.length; length >= 0; length -= 1) {
    const around = path.slice(0, length);
    const schema = schemaAt(root, around);
    // A value by a name such as `path` or `name` is a part of many things that have nothing to do with each other.
    const isFar = path.slice(length).filter((step) => typeof step === "string").length > 1;
    const isHere = (field: Schema): boolean => !isFar || !isScalar(field);
    if (length < path.length && hasField(schema, key, isHere)) return ownerPath(around);
    const section = sectionWith(key, schema, path.slice(length), isHere);
    // What others are made of has nothing to do with a policy, but policies may stand on another level.
    const isNear = !path.slice(Math.max(0, length - 1), -1).includes("policies");
    if (section !== undefined && (isNear || section === "policies"))
      return length === path.length ? section : ownerPath([...around, section]);
  }
  return undefined;
}

/** The section of an object that has a field of this name; `inside`: the way to where the key stands, which is no other place. */
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

/** The schema of a field of this name: of the object at a path, else of the next one around it that has one. */
export function fieldAround(key: string, path: ConfigPath, root: Schema): Schema | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const { properties = {} } = schemaAt(root, path.slice(0, length)) ?? {};
    if (Object.hasOwn(properties, key)) return properties[key];
  }
  return undefined;
}

/** Whether an object of this schema has a field of this name that can be written, and is such a one. */
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

/** The end of a path from the last item of a list on: `routes[0].policies`. */
function ownerPath(path: ConfigPath): string {
  const item = path.findLastIndex((step) => typeof step === "number");
  return path.length === 0 ? "the file" : formatPath(path.slice(Math.max(0, item - 1)));
}
