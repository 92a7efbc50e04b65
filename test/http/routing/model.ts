/** Input of a property test: the listeners of one port with their routes, as a user means them. */
export interface Table {
  readonly listeners: readonly TableListener[];
}

export interface TableListener {
  /** Undefined: every name. */
  readonly hostname: string | undefined;
  readonly routes: readonly TableRoute[];
}

/** A route; `id` is unique within the table. */
export interface TableRoute {
  readonly id: string;
  /** Empty: every name of the listener. */
  readonly hostnames: readonly string[];
  /** Empty: every request. */
  readonly matches: readonly TableMatch[];
  /** The day on which it was made: of routes that are equal otherwise, the oldest wins. */
  readonly age: number;
  /** In a cluster: it attaches to the whole port, so to every listener that has any of its names. */
  readonly isShared: boolean;
}

export interface TableMatch {
  readonly path: TablePath | undefined;
  readonly method: string | undefined;
  readonly headers: readonly TableValue[];
  readonly query: readonly TableValue[];
}

export interface TablePath {
  readonly kind: "exact" | "prefix" | "regex";
  readonly value: string;
}

export interface TableValue {
  readonly name: string;
  readonly kind: "exact" | "regex";
  readonly value: string;
}

/** A request, as a client sends it. */
export interface TableRequest {
  /** With or without a port, in any case of its letters. */
  readonly host: string;
  readonly method: string;
  readonly path: string;
  /** Name and value in turns. */
  readonly query: readonly (readonly [string, string])[];
  readonly headers: readonly (readonly [string, string])[];
}
