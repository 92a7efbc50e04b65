import { DYN, formatType, isSameType, mapParts, partsOf, type Type } from "./types.ts";

/**
 * Bindings of the type parameters of an expression. They follow the rules of cel-go's checker, so that inferred types
 * are the same.
 */
export class Substitution {
  #bindings = new Map<string, Type>();
  #next = 0;

  /** Returns a new type parameter. */
  fresh(): Type {
    this.#next += 1;
    return { kind: "param", name: `%${this.#next}` };
  }

  /** Returns the types with fresh type parameters, renamed consistently. */
  instantiate(types: readonly Type[]): readonly Type[] {
    const names = new Map<string, Type>();
    const rename = (type: Type): Type => {
      if (type.kind !== "param") return mapParts(type, rename);
      const known = names.get(type.name) ?? this.fresh();
      names.set(type.name, known);
      return known;
    };
    return types.map(rename);
  }

  /** Returns the type with its bound parameters replaced; unbound ones become `dyn` if `isFinal`. */
  resolve(type: Type, isFinal = false): Type {
    if (type.kind !== "param") return mapParts(type, (part) => this.resolve(part, isFinal));
    const bound = this.#bindings.get(type.name);
    if (bound !== undefined) return this.resolve(bound, isFinal);
    return isFinal ? DYN : type;
  }

  /** Whether each type is assignable to the expected one. Parameters are bound only if all are. */
  assign(types: readonly Type[], expected: readonly Type[]): boolean {
    if (types.length !== expected.length) return false;
    const binds = types.some(hasParam) || expected.some(hasParam);
    const before = binds ? new Map(this.#bindings) : this.#bindings;
    const fits = types.every((type, at) => {
      const wanted = expected[at];
      return wanted !== undefined && this.#fits(type, wanted);
    });
    if (!fits) this.#bindings = before;
    return fits;
  }

  /** Returns the common type: the more general one if one is assignable to the other, otherwise `dyn`. */
  join(left: Type, right: Type): Type {
    if (!this.assign([left], [right])) return DYN;
    return this.#isMoreGeneral(left, right) ? left : right;
  }

  #fits(type: Type, wanted: Type): boolean {
    if (wanted.kind === "param") {
      if (type.kind === "param" && type.name === wanted.name) return true;
      const fits = this.#bind(wanted.name, type);
      return fits;
    }
    if (type.kind === "param") return this.#bind(type.name, wanted);
    if (isDynamic(type) || isDynamic(wanted)) return true;
    if (type.kind === "null") return wanted.kind === "null" || isNullable(wanted);
    if (wanted.kind === "null") return isNullable(type);
    if (type.kind !== wanted.kind) return false;
    const parts = partsOf(type);
    const wantedParts = partsOf(wanted);
    if (parts.length === 0) return isSameType(type, wanted);
    // The type of a type does not depend on its parameter.
    if (type.kind === "type") return true;
    return parts.every((part, at) => {
      const other = wantedParts[at];
      return other !== undefined && this.#fits(part, other);
    });
  }

  #bind(name: string, type: Type): boolean {
    const bound = this.#bindings.get(name);
    if (bound === undefined) {
      if (!this.#mentions(type, name)) this.#bindings.set(name, type);
      return true;
    }
    if (!this.#fits(type, bound)) return false;
    if (this.#isMoreGeneral(type, bound) && !this.#mentions(type, name)) {
      this.#bindings.set(name, type);
    }
    return true;
  }

  #mentions(type: Type, name: string): boolean {
    const resolved = this.resolve(type);
    if (resolved.kind === "param") return resolved.name === name;
    return partsOf(resolved).some((part) => this.#mentions(part, name));
  }

  /** Whether `left` is equal to `right` or more general. */
  #isMoreGeneral(left: Type, right: Type): boolean {
    const first = this.resolve(left);
    const second = this.resolve(right);
    if (isDynamic(first) || first.kind === "param") return true;
    if (isDynamic(second) || second.kind === "param") return false;
    if (first.kind !== second.kind) return first.kind !== "null" && second.kind === "null";
    const parts = partsOf(second);
    if (parts.length === 0) return formatType(first) === formatType(second);
    return partsOf(first).every((part, at) => {
      const other = parts[at];
      return other !== undefined && this.#isMoreGeneral(part, other);
    });
  }
}

function hasParam(type: Type): boolean {
  return type.kind === "param" || partsOf(type).some(hasParam);
}

function isDynamic(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

/** Whether null is assignable to a type. */
function isNullable(type: Type): boolean {
  return (
    type.kind === "timestamp" ||
    type.kind === "duration" ||
    type.kind === "opaque" ||
    type.kind === "optional" ||
    type.kind === "object"
  );
}
