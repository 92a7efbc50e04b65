import { shortText } from "../../schema/schema.ts";

/** Schema of the name of a backend that describes a server, in a file. */
export const serverNameSchema = shortText("Name of one of the file's `backends`.", {
  refersTo: ["backend"],
});

/** Keys of which exactly one names the server. */
export const serverKeys = ["host", "service", "backend"] as const;
