/** A JSON Schema in the subset that a provider accepts. */
export interface FittedSchema {
  readonly schema: unknown;
  /** Whether the request asks the provider to enforce it; `undefined` for its default. */
  readonly isStrict: boolean | undefined;
  /** Check against the original schema; absent if the provider enforces all of it. */
  readonly check?: SchemaCheck;
}

/** Returns the first place where a value breaks a schema; `undefined` if there is none. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** A JSON Schema of a request. */
export interface RequestedSchema {
  readonly schema: unknown;
  readonly isStrict: boolean | undefined;
  /** Path in the client's body. */
  readonly field: string;
}

/** Converts a schema to the subset that a provider accepts. Throws LlmRefusal if the subset cannot express it. */
export type FitSchema = (requested: RequestedSchema) => FittedSchema;
