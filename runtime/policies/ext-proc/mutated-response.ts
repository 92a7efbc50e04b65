import type { HeaderMutation } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { EditedList, editHeaders } from "../../http/headers/header-edits.ts";
import { statusOfText } from "../../http/headers/status-text.ts";
import { headerBytes, headerEdits, removedNames } from "../envoy/header-edits.ts";

/** The head of a response as a processor changes it. */
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
 * The fields of a response's head, or those behind a body, as a processor changes them: flat lists. `areOfClient`: they are
 * those of a request.
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

/** The status that a processor gives a response: the last that is one, or its own. */
function mutatedStatus(status: number, changes: HeaderMutation | undefined): number {
  const wanted = (changes?.setHeaders ?? []).flatMap(({ header }) =>
    header?.key === ":status" ? (statusOfText(headerBytes(header)) ?? []) : [],
  );
  return wanted.at(-1) ?? status;
}
