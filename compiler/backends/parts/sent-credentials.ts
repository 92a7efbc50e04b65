import type { SentPlace } from "../../../runtime/auth/sent-credential.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { SentCredentialConfig, SentCredentialNode } from "../../model/sent-credentials.ts";
import type { BackendAuthConfig } from "../../model/server-policies.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import {
  anyText,
  either,
  type Infer,
  list,
  object,
  shortText,
  text,
  unsupportedBut,
} from "../../schema/schema.ts";
import { headerNameSchema, TOKEN_PATTERN } from "./header-fields.ts";
import { type FileLookup, readWhatIsHere } from "./tls-files.ts";

/** Returns the schema of the place of a credential in requests to a backend. */
export function sentPlaceSchema(description: string) {
  return object(
    {
      header: object(
        {
          name: headerNameSchema,
          prefix: shortText(
            "Text before the credential, such as `Bearer `; a word is followed by a space. Empty by default.",
          ),
        },
        { required: ["name"], description: "In a header, instead of the client's." },
      ),
      queryParameter: object(
        { name: shortText("The parameter's name.", { minLength: 1 }) },
        { required: ["name"], description: "In a query parameter, instead of the client's." },
      ),
      cookie: object(
        {
          name: shortText("The cookie's name.", { pattern: TOKEN_PATTERN, form: "a cookie name" }),
        },
        { required: ["name"], description: "In a cookie, instead of the client's." },
      ),
      expression: unsupportedBut("expressions that place a credential", "name a header"),
    },
    { exactlyOneOf: ["header", "queryParameter", "cookie", "expression"], description },
  );
}

/** Value of a place, as validated by its schema. */
export type SentPlaceValue = Infer<ReturnType<typeof sentPlaceSchema>>;

/** Reads the place of a credential; returns `undefined` if none is given. */
export function readSentPlace(value: SentPlaceValue | undefined): SentPlace | undefined {
  if (value?.header !== undefined) {
    const { name, prefix = "" } = value.header;
    return { header: name.toLowerCase(), prefix: /\w$/.test(prefix) ? `${prefix} ` : prefix };
  }
  if (value?.queryParameter !== undefined) return { queryParameter: value.queryParameter.name };
  return value?.cookie && { cookie: value.cookie.name };
}

/** Returns the schema of a credential: `${NAME}`, or a file. */
export function credentialSchema(description: string, maxLength = 2048) {
  return either(
    anyText({ minLength: 1, maxLength, secret: true }),
    object({ file: text("Path of a file with the credential.") }, { required: ["file"] }),
    { description },
  );
}

/** Value of a credential, as validated by its schema. */
export type CredentialValue = Infer<ReturnType<typeof credentialSchema>>;

/** Reads a credential: a string, or a file. */
export function readSecretValue(
  value: CredentialValue,
  origin: Origin,
): Pick<SentCredentialConfig, "value" | "valueOrigin"> {
  if (typeof value === "string" || "kind" in value) return { value, valueOrigin: origin };
  return { value: { kind: "path", file: value.file }, valueOrigin: childOf(origin, "file") };
}

/** Returns the schema of `credentials` in a file. */
export function moreCredentialsSchema() {
  return list(
    object(
      {
        location: sentPlaceSchema("Place of the credential in requests."),
        key: credentialSchema(
          "The credential: `${NAME}`, or `{file: PATH}`, which is read at start and again whenever it changes.",
        ),
      },
      { required: ["location", "key"] },
    ),
    {
      minItems: 1,
      maxItems: 8,
      description:
        "Credentials in other places, each sent in addition to the main one: for APIs that require two.",
    },
  );
}

/** Reads `credentials` of a file. */
export function readMoreCredentials(
  values: Infer<ReturnType<typeof moreCredentialsSchema>> | undefined,
  origin: Origin,
): readonly SentCredentialConfig[] | undefined {
  return values?.flatMap(({ location, key }, index) => {
    const place = readSentPlace(location);
    if (place === undefined) return [];
    return [{ ...readSecretValue(key, childOf(origin, index, "key")), place }];
  });
}

/** Returns the credentials of a connection that are not its Authorization, without literals. */
export function resolveSent(
  auth: BackendAuthConfig | undefined,
  context: FileLookup & SecretContext,
): readonly SentCredentialNode[] {
  const own = auth && placedKey(auth);
  return [...(own ?? []), ...(auth?.more ?? [])].map(({ place, ...credential }) => ({
    value: ownValue(credential, context),
    place,
  }));
}

/** Returns a credential without a literal; a file on this machine is checked. */
export function ownValue(
  { value, valueOrigin }: Pick<SentCredentialConfig, "value" | "valueOrigin">,
  context: FileLookup & SecretContext,
): Text | MountedFile {
  if (typeof value === "object" && value.kind !== "env") {
    if (value.kind === "path") readWhatIsHere(value.file, valueOrigin, context);
    return value;
  }
  const instead = valueOrigin.resource && "put it into a Secret and refer to it in secretRef";
  const field = `"${valueOrigin.path.findLast((each) => typeof each === "string")}"`;
  return withoutLiteral(value, valueOrigin, { field, instead }, context);
}

/** Returns the main key of a backend if it has a place of its own. */
function placedKey(auth: BackendAuthConfig): readonly SentCredentialConfig[] {
  if (auth.kind === "key" && auth.place !== undefined)
    return [{ value: auth.key, place: auth.place, valueOrigin: auth.keyOrigin }];
  if (auth.kind === "file" && auth.place !== undefined)
    return [{ value: auth.file, place: auth.place, valueOrigin: auth.fileOrigin }];
  return [];
}
