import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { CollectorNode } from "./collector.ts";

/** Access lines that are not the usual ones. */
export interface AccessLogNode {
  /** Who gets a record of each line; undefined: nobody. */
  readonly collector: CollectorNode | undefined;
  /** Undefined: every request has a line. */
  readonly filter: CompiledExpression | undefined;
  /** Where the filter stands; that of the fields without one. */
  readonly filterOrigin: Origin;
  /** Undefined: the usual fields. */
  readonly fields: LogFieldsNode | undefined;
}

/** The fields of access lines. */
export interface LogFieldsNode {
  /** Those that are left out, as named: of lines of connections too. */
  readonly removed: readonly string[];
  /** Those of every request that stay, in their order. */
  readonly defaults: readonly LineField[];
  /** Names that are left out of what policies and backends add. */
  readonly without: readonly string[];
  readonly added: readonly AddedField[];
  readonly origin: Origin;
}

/** A field of access lines by its expression. */
export interface AddedField {
  readonly name: string;
  readonly value: CompiledExpression;
}

/** A field that every access line may have. */
export type LineField =
  | "listener"
  | "route"
  | "endpoint"
  | "src.addr"
  | "http.method"
  | "http.host"
  | "http.path"
  | "http.version"
  | "http.status"
  | "trace.id"
  | "span.id"
  | "reason"
  | "duration";
