import { readWhatIsHere } from "../backends/parts/tls-files.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { secretEntry } from "../manifests/field-types.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import { shownText, type Text } from "../model/texts.ts";
import { hintFor } from "../schema/hint-for.ts";
import { anyText, either, type Infer, list, object, shortText, text } from "../schema/schema.ts";
import { fileWord } from "../schema/two-forms.ts";
import { credentialMode, type JwtMode, tokenMode } from "./jwt-auth.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  lowerCredentialLocation,
  proxyLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import { identityCheck, modeChange } from "./parts/identity-access.ts";
import type { Policy } from "./policy.ts";

/** Users with their password hashes: inline, or in a file that the running gateway reads. */
export type PasswordSource =
  | { readonly kind: "file"; readonly file: string; readonly isSecret?: boolean }
  | { readonly kind: "text"; readonly text: Text; readonly origin: Origin };

/** `basicAuth` as configured. */
interface BasicAuthConfig {
  readonly mode: JwtMode;
  readonly realm: string;
  readonly location: CredentialLocationConfig;
  readonly passwords: PasswordSource;
}

/** `basicAuth` resolved. */
interface BasicAuthNode {
  readonly mode: JwtMode;
  readonly realm: string;
  readonly location: CredentialLocationNode;
  readonly passwords: PasswordSource;
}

const HASHES = { maxLength: 1_048_576, readAtStart: true, hasDollarSigns: true } as const;

const schema = object(
  {
    mode: tokenMode.file,
    realm: shortText("The realm, which browsers show in their login dialog.", {
      pattern: "^[\\x20-\\x7e]+$",
      form: "printable ASCII text",
      default: "Restricted",
    }),
    htpasswd: either(
      object(
        {
          file: text(
            "Path of an htpasswd file on the gateway's host. Read again whenever it changes.",
          ),
          inline: text("Lines of `USER:HASH`.", HASHES),
        },
        { exactlyOneOf: ["file", "inline"] },
      ),
      anyText({ minLength: 1, ...HASHES }),
      {
        description:
          "Users and password hashes in `htpasswd` format: `{file: PATH}`, or the lines themselves, preferably as `${NAME}`.",
      },
    ),
    authorizationLocation: credentialLocationSchema("Basic"),
  },
  {
    required: ["htpasswd"],
    misplacedFieldHints: hintFor(
      "write htpasswd: { file: users.htpasswd }, with lines that `htpasswd -nB USER` prints",
      ["users", "username", "user", "password", "credentials"],
    ),
    description: "Requires a user name and password, or verifies them if they are sent (`mode`).",
  },
);

const kubernetesSchema = object(
  {
    location: credentialLocationSchema("Basic"),
    mode: credentialMode,
    realm: text("The realm of the challenge.", { default: "Restricted" }),
    users: list(text("A line of an htpasswd file."), {
      minItems: 1,
      maxItems: 256,
      isHidden: true,
      description: "Users with their password hashes.",
    }),
    secretRef: secretEntry("A Secret with users and password hashes.", ".htaccess"),
  },
  { exactlyOneOf: ["users", "secretRef"] },
);

/** Authenticates clients by user name and password (RFC 7617). */
export const basicAuth: Policy<
  "basicAuth",
  BasicAuthConfig,
  BasicAuthNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "basicAuth",
  summary:
    "authenticates clients by user name and password from an htpasswd file (bcrypt, apr1, SHA, crypt); rules read the user as `basicAuth`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
  },
  schema,
  aliases: [["basicAuthentication"]],
  names: ["passwords", "findLogin"],
  access: {
    identity: "basicAuth",
    passesAnonymous: ({ mode }) => mode !== "strict",
    credential: ({ mode, location }) => ({ kind: "password", mode, location }),
    direction: "closes",
    checks: ({ mode }) => [identityCheck("basicAuth", mode, "a user name with its password")],
    compare: {
      changes: (before, after) => [
        ...modeChange(before.mode, after.mode),
        ...passwordChanges(before.passwords, after.passwords),
      ],
      rest: ({ realm, location }) => ({ realm, location }),
    },
  },
  lowering: {
    merge: "replace",
    forProxy: (config) => ({ ...config, location: proxyLocation(config.location) }),
    lower: (given, origin) => {
      return {
        mode: given.mode ?? "strict",
        realm: given.realm ?? "Restricted",
        location: lowerCredentialLocation(
          given.authorizationLocation,
          "Basic",
          childOf(origin, "authorizationLocation"),
        ),
        passwords: lowerSource(given.htpasswd, childOf(origin, "htpasswd")),
      };
    },
    resolve: (config, context) => {
      const { passwords } = config;
      if (passwords.kind === "text" && typeof passwords.text === "string") {
        context.diagnostics.report("literal-password-hash", passwords.origin, {});
      }
      if (passwords.kind === "file" && passwords.isSecret !== true) {
        readWhatIsHere(passwords.file, childOf(context.origin, "htpasswd", "file"), context);
      }
      const location = resolveCredentialLocation(config.location, context);
      return location && { ...config, location };
    },
  },
  kubernetes: {
    field: "traffic.basicAuthentication",
    schema: kubernetesSchema,
    lower: (given, { origin, secretFiles }) => {
      const [file = ""] =
        given.secretRef === undefined
          ? []
          : secretFiles(
              given.secretRef.name,
              [given.secretRef.key ?? ".htaccess"],
              "passwords",
              childOf(origin, "secretRef"),
            );
      return {
        mode: fileWord(given.mode ?? "Strict"),
        realm: given.realm ?? "Restricted",
        location: lowerCredentialLocation(given.location, "Basic", childOf(origin, "location")),
        passwords:
          given.users === undefined
            ? { kind: "file", file, isSecret: true }
            : { kind: "text", text: given.users.join("\n"), origin: childOf(origin, "users") },
      };
    },
  },
};

/** Compares the users, and which of them got another password. */
function passwordChanges(before: PasswordSource, after: PasswordSource): readonly SettingsChange[] {
  const [old, now] = [hashesOf(before), hashesOf(after)];
  const other = [...now].filter(([user, hash]) => (old.get(user) ?? hash) !== hash);
  return [
    ...listChanges("user", [...old.keys()], [...now.keys()], "opens"),
    ...other.map(([user]) => ({
      direction: "opens" as const,
      text: `password of ${user} changed`,
    })),
  ];
}

/** Returns each user's hash; for hashes that are read at start, an entry for their source instead. */
function hashesOf(source: PasswordSource): ReadonlyMap<string, string> {
  if (source.kind === "file") return new Map([[`of ${source.file}`, ""]]);
  const { text } = source;
  if (typeof text !== "string") return new Map([[`of ${shownText(text)}`, ""]]);
  const lines = text.split("\n").map((line) => line.trim().split(":"));
  return new Map(
    lines.flatMap(([user = "", ...hash]) => (user === "" ? [] : [[user, hash.join(":")]])),
  );
}

function lowerSource(value: Infer<typeof schema>["htpasswd"], origin: Origin): PasswordSource {
  if (typeof value === "string" || "kind" in value) return { kind: "text", text: value, origin };
  if (value.file !== undefined) return { kind: "file", file: value.file };
  return { kind: "text", text: value.inline ?? "", origin: childOf(origin, "inline") };
}
