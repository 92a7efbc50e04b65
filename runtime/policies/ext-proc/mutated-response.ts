import type { HeaderMutation } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { EditedList, editHeaders } from "../../http/headers/header-edits.ts";
import { statusOfText } from "../../http/headers/status-text.ts";
import { headerBytes, headerEdits, removedNames } from "../envoy/header-edits.ts";

/** Applies a processor's changes to the head of a response. */
export function mutatedHead<
  Head extends { readonly status: number; readonly headers: readonly string[] },
>(head: Head, changes: HeaderMutation | undefined): Head {
  return {
    ...head,
    status: mutatedStatus(head.status, changes),
    headers: mutatedFields(head.headers, changes, false),
  };
}

/**
 * Applies a processor's changes to the headers of a response or to trailers: flat lists. `areOfClient`: whether they belong
 * to a request.
 */
export function mutatedFields(
  fields: readonly string[],
  changes: HeaderMutation | undefined,
  areOfClient: boolean,
): readonly string[] {
  const { setHeaders = [], removeHeaders = [] } = changes ?? {};
  const edited = new EditedList(fields, areOfClient);
  for (const name of removedNames(removeHeaders)) edited.remove(name);
  editHeaders(edited, headerEdits(setHeaders, "overwrite"));
  return edited.list;
}

/** Returns the last valid status that the processor sets, or the original one. */
function mutatedStatus(status: number, changes: HeaderMutation | undefined): number {
  const wanted = (changes?.setHeaders ?? []).flatMap(({ header }) =>
    header?.key === ":status" ? (statusOfText(headerBytes(header)) ?? []) : [],
  );
  return wanted.at(-1) ?? status;
}
