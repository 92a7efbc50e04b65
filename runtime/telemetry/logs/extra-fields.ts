import type { ExchangeRecord } from "../../http/exchange.ts";
import type { FieldWriter } from "../field-writer.ts";

/** Adds what policies and backends noted. */
export function logExtraFields(line: FieldWriter, { fields }: ExchangeRecord): void {
  if (fields === undefined) return;
  const { list } = fields;
  for (let i = 0; i < list.length; i += 2) line.text(list[i] ?? "", list[i + 1]);
}

/** The same without some. */
export function logExtraFieldsExcept(
  line: FieldWriter,
  { fields }: ExchangeRecord,
  names: ReadonlySet<string>,
): void {
  if (fields === undefined) return;
  for (const [name, value] of fields.entries()) if (!names.has(name)) line.text(name, value);
}
