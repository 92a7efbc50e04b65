import { type ImportSymbol, made, type Name } from "./hole.ts";

/** Imports a value of a module: `imported("gwc/runtime/policies/cors", "applyCors")`. */
export function imported(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: false };
}

/** Imports the default export of a module under a name. */
export function importedDefault(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: false, isDefault: true };
}

/** Imports a type of a module. */
export function importedType(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: true };
}

/** Makes an identifier; throws for other strings (names are made by compiler/3-resolve/identifiers.ts). */
export function name(text: string): Name {
  if (!isIdentifier(text)) throw new Error(`not an identifier: ${text}`);
  return { [made]: true, kind: "name", text };
}

/** Capitalizes an identifier, to append it to another word: `claude` as `Claude`. */
export function capitalized(identifier: string): string {
  return `${identifier.charAt(0).toUpperCase()}${identifier.slice(1)}`;
}

/** Returns whether a string is valid as a name or after a dot. */
export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(text);
}
