import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { ExportResult } from "./export-queue.ts";

/** Reads a response to an export in protobuf, which is the same for all signals: `partial_success` is field 1. */
export function readExportResponse(bytes: Uint8Array): ExportResult {
  const partial = { rejected: 0, message: "" };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === 1 && type === WireType.LengthDelimited) readPartial(reader.bytes(), partial);
    else reader.skip(type, number);
  }
  const { rejected, message } = partial;
  return { kind: "taken", rejected, detail: message || "some items were rejected" };
}

/** Reads the number of rejected items (field 1) and the reason (field 2). */
function readPartial(bytes: Uint8Array, partial: { rejected: number; message: string }): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === 1 && type === WireType.Varint) partial.rejected = Number(reader.int64());
    else if (number === 2 && type === WireType.LengthDelimited) partial.message = reader.string();
    else reader.skip(type, number);
  }
}
