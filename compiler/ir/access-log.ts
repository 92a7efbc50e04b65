import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { CollectorNode } from "./collector.ts";
import type { MessageCaptureNode } from "./message-capture.ts";

/** Settings of access lines that differ from the defaults. */
export interface AccessLogNode {
  /** Collector that receives a record of each line; `undefined` if there is none. */
  readonly collector: CollectorNode | undefined;
  /** Requests that are logged; `undefined` for all. */
  readonly filter: CompiledExpression | undefined;
  /** Place of the filter; that of the fields if there is no filter. */
  readonly filterOrigin: Origin;
  /** `undefined` for the default fields. */
  readonly fields: LogFieldsNode | undefined;
  /** Settings of records that differ from those of lines; absent if there are none. */
  readonly records?: LogRecordsNode;
}

/** Exported requests and fields of records. */
export interface LogRecordsNode {
  /** Requests that are exported; `undefined` for those that are logged. */
  readonly filter: (CompiledExpression & { readonly origin: Origin }) | undefined;
  /** `undefined` for the fields of lines. */
  readonly fields: LogFieldsNode | undefined;
  /** Messages of calls to models as events; absent if there are none. */
  readonly messages?: MessageCaptureNode;
}

/** Fields of access lines. */
export interface LogFieldsNode {
  /** Names of removed fields; they also apply to lines of connections. */
  readonly removed: readonly string[];
  /** Default fields of every request that are not removed, in order. */
  readonly defaults: readonly LineField[];
  /** Names of removed fields among those that policies and backends add. */
  readonly without: readonly string[];
  readonly added: readonly AddedField[];
  readonly origin: Origin;
}

/** A field of access lines, and its expression. */
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
  | "user"
  | "http.method"
  | "http.host"
  | "http.path"
  | "http.version"
  | "http.status"
  | "trace.id"
  | "span.id"
  | "reason"
  | "duration";
