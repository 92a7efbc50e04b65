import { expressionsSchema, lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { expression, type Infer, list, object, shortText } from "../../schema/schema.ts";
import type { HttpProtocolConfig, NamedHeaders } from "./ext-authz-config.ts";

/** A list of headers. */
export const headerNames = (description: string) =>
  list(shortText("A header's name."), { maxItems: 64, description });

/** The same as a form has it; `origin`: of the list. */
export function headersAt(
  names: readonly string[] | undefined,
  origin: Origin,
): NamedHeaders | undefined {
  return names && { names, origin };
}

/** What both forms say of a question over HTTP by the same names. */
export const questionFields = {
  path: expression("The path and query that are asked for; those of the request by default."),
  redirect: expression("Where a client goes whose request got 401 or 403, with 302."),
  addRequestHeaders: expressionsSchema(
    "Headers for the server, in the place of the client's; one that fails is left out. `:authority`: what it is asked as (Host), in the place of its own name.",
  ),
};

/** The headers that come from the server. */
export const responseHeaderNames = headerNames(
  "Headers of the server's response that the backend gets; the client's own never pass.",
);

/** What later expressions know of a verdict. */
export const metadataFields = expressionsSchema(
  "What later expressions read as `extauthz.NAME`, of the request and the server's `response`.",
);

const shared = object(questionFields);

/** What both forms say, in canonical form; `origin`: of the protocol. */
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
