import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { Json } from "../../model/json.ts";
import { type Schema, text } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/schema-compiler.ts";

/** One declared option. */
interface DeclaredOption {
  readonly type?: Json;
  readonly description?: Json;
  readonly default?: Json;
  readonly required?: Json;
  readonly enum?: Json;
  readonly pattern?: Json;
  readonly minimum?: Json;
  readonly maximum?: Json;
  readonly secret?: Json;
}

/** Returns the options that a module declares, by name. */
export function declaredOptions(declared: Json): readonly (readonly [string, DeclaredOption])[] {
  return Object.entries(declared ?? {}).flatMap(([name, option]) =>
    isJsonObject(option) ? [[name, option] as const] : [],
  );
}

/** Returns the schema of an option's value. */
export function optionSchema(option: DeclaredOption): Schema {
  const { type, description, minimum, maximum, pattern, secret } = option;
  const own = typeof description === "string" ? { description } : {};
  if (type === "strings") return { ...own, type: "array", items: text("A string.") };
  if (type === "boolean") return { ...own, type };
  if (type === "number" || type === "integer") {
    return {
      ...{ ...own, type },
      ...(typeof minimum === "number" && { minimum }),
      ...(typeof maximum === "number" && { maximum }),
    };
  }
  const words = Array.isArray(option.enum) ? option.enum.map(String) : undefined;
  return {
    ...{ ...own, type: "string" },
    ...(words && { enum: words }),
    ...(typeof pattern === "string" && { pattern, form: `a string that matches ${pattern}` }),
    ...(secret === true && { secret: true }),
  };
}

/** Types of options that each of these members is for. */
const MEMBER_TYPES: Readonly<Record<string, readonly Json[]>> = {
  pattern: ["string"],
  enum: ["string"],
  secret: ["string"],
  minimum: ["number", "integer"],
  maximum: ["number", "integer"],
};

/** Returns the mistake of an option's declaration that its types allow; `undefined` if there is none. */
export function optionMistake(name: string, declared: Json): string | undefined {
  if (!/^[A-Za-z_][\w-]*$/.test(name))
    return `"${name}" is not a name of an option: use letters, digits, "_" and "-"`;
  if (!isJsonObject(declared)) return undefined;
  for (const [member, types] of Object.entries(MEMBER_TYPES)) {
    if (declared[member] === undefined || types.includes(declared.type ?? null)) continue;
    return `"${member}" of the option "${name}" is for the type ${types.join(" or ")}`;
  }
  const { pattern, secret, default: value } = declared;
  if (typeof pattern === "string" && !isPattern(pattern))
    return `"pattern" of the option "${name}" is not a regular expression`;
  if (value === undefined) return undefined;
  if (secret === true)
    return `the option "${name}" is a secret: a default would be part of the code`;
  const isValid = compileSchema(optionSchema(declared), [])(value);
  return isValid ? undefined : `"default" of the option "${name}" is not one of its valid values`;
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").flags === "u";
  } catch {
    return false;
  }
}
