import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Expression, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { call, listExpression } from "../code/syntax.ts";
import { locationCode } from "./parts/credential-location.ts";
import { awaitedIdentitySteps, identitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/api-key";
const VALUES = "gwc/runtime/process/startup-values";

/** `apiKey`: checks the key; its metadata is `apiKey` from here on. */
export const apiKeyTemplate: PolicyTemplate<"apiKey"> = {
  identity: "apiKey",
  detail: ({ mode }) => mode,
  code: ({ settings, origin }, scope) => {
    const { mode, keys, isStored } = settings;
    const location = locationCode(settings.location, "findApiKey", scope);
    const value = { location: location.value, keys: keys.map(keyCode) };
    return {
      declarations: [
        ...location.declarations,
        code`
          ${scope.trace(origin)}
          const apiKeys = ${imported(MODULE, "openApiKeys")}(${literal(value)});
        `,
      ],
      ...(isStored
        ? awaitedIdentitySteps("apiKey", mode, STORED_CHECKS, code`apiKeys`)
        : identitySteps("apiKey", mode, CHECKS, code`apiKeys`)),
      readsRequestBody: location.readsRequestBody,
    };
  },
};

const CHECKS = {
  strict: imported(MODULE, "requireApiKey"),
  optional: imported(MODULE, "acceptApiKey"),
  permissive: imported(MODULE, "observeApiKey"),
};

const STORED = "gwc/runtime/policies/stored-api-key";

/** Checks that also find keys in the store. */
const STORED_CHECKS = {
  strict: imported(STORED, "requireStoredApiKey"),
  optional: imported(STORED, "acceptStoredApiKey"),
  permissive: imported(STORED, "observeStoredApiKey"),
};

function keyCode(source: PolicySettings["apiKey"]["keys"][number]): Code {
  // The configured metadata is JSON.
  const metadata = literal(source.metadata as Printable);
  const models = source.allowedModels?.map((model) => literal(model));
  const made = (maker: string, key: Expression): Code =>
    models === undefined
      ? code`${imported(MODULE, maker)}(${key}, ${metadata})`
      : code`${call(imported(MODULE, maker), [key, metadata, listExpression(models)])}`;
  switch (source.kind) {
    case "key":
      return made("plaintextKey", literal(source.key));
    case "hash":
      return made("sha256Key", literal(source.sha256));
    case "file":
      return made("keyFile", call(imported(VALUES, "file"), [literal(source.file)]));
    case "secret": {
      const folder = call(imported(VALUES, "secretFile"), [literal(source.file)]);
      return code`${imported(MODULE, "keyFolder")}(${folder})`;
    }
  }
}
