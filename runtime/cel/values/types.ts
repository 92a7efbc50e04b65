import { Box, type Kind, kindOf } from "./values.ts";

/** A type as a value: `int`, `type(1)`. */
export class TypeValue extends Box {
  readonly kind = "type";
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  equals(other: unknown): boolean {
    return other instanceof TypeValue && other.name === this.name;
  }
}

const NAMES: Readonly<Partial<Record<Kind, string>>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
  ip: "net.IP",
  cidr: "net.CIDR",
};

/** `type(value)`. */
export function typeOf(value: unknown): TypeValue | undefined {
  const kind = kindOf(value);
  return kind === undefined ? undefined : new TypeValue(NAMES[kind] ?? kind);
}
