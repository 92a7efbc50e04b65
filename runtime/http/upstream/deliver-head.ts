import type { ReceivedFields } from "../http1/received-fields.ts";
import type { UpstreamHandler } from "./upstream.ts";

/** Hands a response's head to who wants it: as fields where those are taken so, else as a flat list. */
export function deliverHead(
  handler: UpstreamHandler,
  status: number,
  fields: ReceivedFields,
): void {
  if (handler.onFields === undefined) handler.onHead(status, fields.list);
  else handler.onFields(status, fields);
}
