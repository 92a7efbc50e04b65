import type { HeaderMutation } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { headerValue, replaceHeader, withoutHeader } from "../../http/headers/header-list.ts";
import { statusOfText } from "../../http/headers/status-text.ts";
import { headerBytes, headerEdits, isSettable } from "../envoy/header-edits.ts";

/** The head of a response as a processor changes it. */
export function mutatedHead<
  Head extends { readonly status: number; readonly headers: readonly string[] },
>(head: Head, changes: HeaderMutation | undefined): Head {
  return {
    ...head,
    status: mutatedStatus(head.status, changes),
    headers: mutatedFields(head.headers, changes),
  };
}

/** The fields of a response's head, or behind its body, as a processor changes them: flat lists. */
export function mutatedFields(
  fields: readonly string[],
  changes: HeaderMutation | undefined,
): readonly string[] {
  const { setHeaders = [], removeHeaders = [] } = changes ?? {};
  let list = [...fields];
  for (const name of removeHeaders.map((each) => each.toLowerCase())) {
    if (isSettable(name)) list = withoutHeader(list, name);
  }
  for (const { name, value, action } of headerEdits(setHeaders, "overwrite")) {
    const isThere = headerValue(list, name) !== undefined;
    if (action === "append") list.push(name, value);
    else if (action === "overwrite" || isThere === (action === "overwriteIfPresent"))
      replaceHeader(list, name, value);
  }
  return list;
}

/** The status that a processor gives a response: the last that is one, or its own. */
function mutatedStatus(status: number, changes: HeaderMutation | undefined): number {
  const wanted = (changes?.setHeaders ?? []).flatMap(({ header }) =>
    header?.key === ":status" ? (statusOfText(headerBytes(header)) ?? []) : [],
  );
  return wanted.at(-1) ?? status;
}
