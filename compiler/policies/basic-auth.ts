import type { ConfigValue } from "../1-parse/values.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { Text } from "../ir/texts.ts";
import { anyText, either, object, shortText, text } from "../schema/schema.ts";
import { type JwtMode, type KubernetesMode, kubernetesMode, modeSchema } from "./jwt-auth.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  defaultLocation,
  readCredentialLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import type { Policy } from "./policy.ts";

/** Users and password hashes: in a file that is read where the gateway runs, or given. */
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

/** Verified identity from a user name and a password (RFC 7617). */
export const basicAuth: Policy<"basicAuth", BasicAuthConfig, BasicAuthNode> = {
  kind: "basicAuth",
  summary:
    "checks user name and password against an htpasswd file (bcrypt, apr1, SHA, crypt); the user is `basicAuth` in rules",
  scope: ["listener", "route"],
  schema: object(
    {
      mode: modeSchema,
      realm: shortText("What browsers show when they ask for the login.", {
        pattern: "^[\\x20-\\x7e]+$",
        form: "printable ASCII text",
        default: "Restricted",
      }),
      htpasswd: either(
        object(
          {
            file: text(
              "Path of an htpasswd file; read where the gateway runs, and again when it changes.",
            ),
            inline: text("Lines of USER:HASH.", { maxLength: 1_048_576, readAtStart: true }),
          },
          { exactlyOneOf: ["file", "inline"] },
        ),
        anyText({ minLength: 1, maxLength: 1_048_576, readAtStart: true }),
        {
          description:
            "Users and hashes as `htpasswd` writes them: `{file: PATH}`, or the lines themselves, best as `${NAME}`.",
        },
      ),
      authorizationLocation: credentialLocationSchema("Basic"),
    },
    { required: ["htpasswd"], description: "Requires, or accepts, a user name and password." },
  ),
  aliases: [["basicAuthentication"]],
  names: ["passwords", "findLogin"],
  identity: "basicAuth",
  merge: "replace",
  read: (value, origin) => {
    const given = value as {
      readonly mode?: JwtMode;
      readonly realm?: string;
      readonly authorizationLocation?: ConfigValue;
      readonly htpasswd: Text | { readonly file?: string; readonly inline?: Text };
    };
    return {
      mode: given.mode ?? "strict",
      realm: given.realm ?? "Restricted",
      location: readCredentialLocation(
        given.authorizationLocation,
        "Basic",
        childOf(origin, "authorizationLocation"),
      ),
      passwords: readSource(given.htpasswd, childOf(origin, "htpasswd")),
    };
  },
  kubernetes: {
    field: "traffic.basicAuthentication",
    read: (value, { origin, secretFiles }) => {
      const given = value as {
        readonly mode?: KubernetesMode;
        readonly realm?: string;
        readonly users?: readonly string[];
        readonly secretRef?: { readonly name: string };
      };
      const [file = ""] =
        given.secretRef === undefined
          ? []
          : secretFiles(given.secretRef.name, [".htaccess"], childOf(origin, "secretRef"));
      return {
        mode: kubernetesMode(given.mode),
        realm: given.realm ?? "Restricted",
        location: defaultLocation("Basic"),
        passwords:
          given.users === undefined
            ? { kind: "file", file, isSecret: true }
            : { kind: "text", text: given.users.join("\n"), origin: childOf(origin, "users") },
      };
    },
  },
  resolve: (config, context) => {
    const { passwords } = config;
    if (passwords.kind === "text" && typeof passwords.text === "string") {
      context.diagnostics.report("literal-password-hash", passwords.origin, {});
    }
    const location = resolveCredentialLocation(config.location, context);
    return location && { ...config, location };
  },
};

function readSource(
  value: Text | { readonly file?: string; readonly inline?: Text },
  origin: Origin,
): PasswordSource {
  if (typeof value === "string" || "kind" in value) return { kind: "text", text: value, origin };
  if (value.file !== undefined) return { kind: "file", file: value.file };
  return { kind: "text", text: value.inline ?? "", origin: childOf(origin, "inline") };
}
