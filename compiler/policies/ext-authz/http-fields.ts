import { expressionsSchema, lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { expression, type Infer, list, object, shortText } from "../../schema/schema.ts";
import type { HttpProtocolConfig, NamedHeaders } from "./ext-authz-config.ts";

/** Schema of a list of header names. */
export const headerNames = (description: string) =>
  list(shortText("A header's name."), { maxItems: 64, description });

/** Returns the names with the location of their list. */
export function headersAt(
  names: readonly string[] | undefined,
  origin: Origin,
): NamedHeaders | undefined {
  return names && { names, origin };
}

/** Fields of a check over HTTP that have the same names in both forms. */
export const questionFields = {
  path: expression(
    "Path and query of the check request; those of the client's request by default.",
  ),
  redirect: expression("Target of the 302 redirect that replaces a 401 or 403 from the server."),
  addRequestHeaders: expressionsSchema(
    "Headers of the check request, which replace the client's; one whose expression fails is omitted. `:authority` sets the Host header.",
  ),
};

/** Schema of the headers copied from the server's response. */
export const responseHeaderNames = headerNames(
  "Headers copied from the server's response to the request for the backend; the client's headers of these names are removed.",
);

/** Schema of the metadata that later expressions read. */
export const metadataFields = expressionsSchema(
  "Values that later expressions read as `extauthz.NAME`, computed from the request and the server's `response`.",
);

const shared = object(questionFields);

/** Reads the fields that both forms share; `origin` is that of the protocol. */
export function lowerHttpFields(
  { path, redirect, addRequestHeaders }: Infer<typeof shared>,
  origin: Origin,
): Pick<HttpProtocolConfig, "kind" | "path" | "redirect" | "addHeaders"> {
  const at = (field: keyof typeof questionFields) => childOf(origin, field);
  return {
    kind: "http",
    path: path === undefined ? undefined : { text: path, origin: at("path") },
    redirect: redirect === undefined ? undefined : { text: redirect, origin: at("redirect") },
    addHeaders: lowerExpressions(addRequestHeaders, at("addRequestHeaders")),
  };
}
