import { headerName, span } from "../../../schema/kubernetes-fields.ts";
import { boolean, integer, list, object, shortText, text } from "../../../schema/schema.ts";

/** Gateway API `HTTPHeader` filter: what is set, added and removed. */
export const headerFilter = object(
  {
    set: headerValues("Headers that replace what is there."),
    add: headerValues("Headers that are appended to what is there."),
    remove: list(headerName, { maxItems: 16, description: "Headers that are taken out." }),
  },
  { atLeastOneOf: ["set", "add", "remove"] },
);

function headerValues(description: string) {
  return list(
    object(
      { name: headerName, value: text("The value.", { maxLength: 4096 }) },
      { required: ["name", "value"] },
    ),
    { maxItems: 16, description },
  );
}

/** Gateway API `HTTPCORSFilter`. */
export const corsFields = {
  allowOrigins: list(
    shortText("`https://app.example.com`, `https://*.example.com`, or `*`.", {
      maxLength: 253,
      pattern: "^(\\*|null|[a-z][a-z0-9+.-]*://(\\*\\.)?[^\\s/*?#@]+)$",
    }),
    { maxItems: 64, description: "Origins whose pages may read the responses." },
  ),
  allowCredentials: boolean("Whether pages may send cookies and credentials."),
  allowMethods: list(shortText("A method, or `*`."), {
    maxItems: 9,
    description: "Methods that a preflight allows.",
  }),
  allowHeaders: list(shortText("A header name, or `*`."), {
    maxItems: 64,
    description: "Request headers that a preflight allows.",
  }),
  exposeHeaders: list(shortText("A header name, or `*`."), {
    maxItems: 64,
    description: "Response headers that pages may read.",
  }),
  maxAge: integer("Seconds for which a browser may remember a preflight.", 1, 2_147_483_647, {
    default: 5,
  }),
};

/** Gateway API `HTTPRouteRetry`. */
export const retrySchema = object(
  {
    codes: list(integer("A status of the backend.", 400, 599), {
      description: "Statuses after which it is tried again.",
    }),
    attempts: integer("How often it is tried again.", 0, 1000),
    backoff: span("Before the next attempt."),
  },
  { description: "Trying again after a failure." },
);
