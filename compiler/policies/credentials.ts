import { notYet, object, type Schema, shortText } from "../schema.ts";
import { headerNameSchema } from "./header-fields.ts";

/** Where a credential stands in a request. */
export interface CredentialPlace {
  /** Lower case. */
  readonly header: string;
  /** What stands before it, with its space; empty for none. */
  readonly prefix: string;
}

/** The shape of `location`. */
export const credentialPlaceSchema: Schema = object(
  {
    header: object(
      {
        name: headerNameSchema,
        prefix: shortText("What stands before the credential: `Bearer `. Nothing by default."),
      },
      { required: ["name"] },
    ),
    queryParameter: notYet("credentials in query parameters"),
    cookie: notYet("credentials in cookies"),
    expression: notYet("credentials found by expressions"),
  },
  {
    exactlyOneOf: ["header", "queryParameter", "cookie", "expression"],
    description: "Where the credential stands; in `Authorization: Bearer` by default.",
  },
);

/** A validated `location`. */
export function readCredentialPlace(value: unknown): CredentialPlace {
  const given = value as
    | { readonly header: { readonly name: string; readonly prefix?: string } }
    | undefined;
  if (given === undefined) return { header: "authorization", prefix: "Bearer " };
  const { name, prefix = "" } = given.header;
  return {
    header: name.toLowerCase(),
    prefix: prefix === "" ? "" : `${prefix.trimEnd()} `,
  };
}
