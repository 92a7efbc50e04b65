import { type ImportSymbol, made, type Name } from "./hole.ts";

/** A value of a module: `imported("gwc/runtime/policies/cors", "applyCors")`. */
export function imported(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: false };
}

/** A type of a module. */
export function importedType(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: true };
}

/** An identifier; throws when it isn't one (names are made by compiler/3-resolve/identifiers.ts). */
export function name(text: string): Name {
  if (!isIdentifier(text)) throw new Error(`not an identifier: ${text}`);
  return { [made]: true, kind: "name", text };
}

/** An identifier behind another word: `claude` as `Claude`. */
export function capitalized(identifier: string): string {
  return `${identifier.charAt(0).toUpperCase()}${identifier.slice(1)}`;
}

/** Whether a text can stand as a name or after a dot. */
export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(text);
}
