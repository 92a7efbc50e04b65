import { PATH_FORM } from "../../schema/path-form.ts";
import { shortText, text } from "../../schema/schema.ts";

/** Description of `groups`. */
export const GROUPS =
  "Groups of providers in order of preference: a group is used if no provider of the earlier groups is healthy.";

/** Description of the path of the API on another server. */
export const PATH = "Path of the API on that server; the provider's own path by default.";

/** Fields of a file for another server with the API of the provider. */
export const overrideFields = {
  hostOverride: text(
    "Another server with the provider's API: `host:port` or a URL; plain HTTP unless the URL or a policy sets TLS.",
    { maxLength: 1024, readAtStart: true },
  ),
  pathOverride: shortText(PATH, { maxLength: 1024, ...PATH_FORM }),
};
