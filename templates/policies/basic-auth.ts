import type { PolicySettings } from "../../compiler/ir.ts";
import { type Code, code, imported, literal } from "../code.ts";
import { awaitedIdentitySteps } from "../identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/basic-auth";

/** `basicAuth`: checks the login; the user is `basicAuth` from here on. */
export const basicAuthTemplate: PolicyTemplate<"basicAuth"> = ({ settings, origin }, { trace }) => {
  const { mode, realm, passwords } = settings;
  return {
    declarations: [
      code`
        ${trace(origin)}
        const passwords = ${imported(MODULE, "openBasicAuth")}(${literal({ realm, passwords: source(passwords) })});
      `,
    ],
    ...awaitedIdentitySteps("basicAuth", mode, CHECKS, code`passwords`),
  };
};

const CHECKS = {
  strict: imported(MODULE, "requireBasicAuth"),
  optional: imported(MODULE, "acceptBasicAuth"),
  permissive: imported(MODULE, "observeBasicAuth"),
};

function source(passwords: PolicySettings["basicAuth"]["passwords"]): Code {
  if (passwords.kind === "text") {
    return code`${imported(MODULE, "givenPasswords")}(${literal(passwords.text)})`;
  }
  const path = imported(
    "gwc/runtime/gateway/late",
    passwords.isSecret === true ? "secretFile" : "file",
  );
  return code`${imported(MODULE, "passwordsInFile")}(${path}(${literal(passwords.file)}))`;
}
