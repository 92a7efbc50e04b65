import type { PolicyKind, PolicyUse } from "../../compiler/ir/policies.ts";
import type { Program } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { templateOf } from "../policies/index.ts";

/** Name of the constant of `main.ts` with the gateway's own tokens. */
export const OWN_TOKENS = "ownTokens";

const MODULE = "gwc/runtime/http/own-tokens";

/** Returns the code of the tokens that policies of a program issue to clients; most programs have none. */
export function ownTokens(program: Program): readonly Code[] {
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const modules = listeners.flatMap(({ preRouting, routes }) =>
    [...routes, preRouting ?? []].flat(),
  );
  const tokens = modules.flatMap(({ id, policies }) =>
    policies.flatMap((use) => tokenOf(use, id) ?? []),
  );
  // A route may be on several listeners, and a policy on many routes.
  return [...new Map(tokens.map((token) => [JSON.stringify(token), token])).values()];
}

/** Declares the constant, if there are tokens. */
export function ownTokensConstant(tokens: readonly Code[]): readonly Code[] {
  if (tokens.length === 0) return [];
  const type = importedType(MODULE, "OwnToken");
  return [
    code`
      // Cookies and headers of the gateway itself, which backends must not receive.
      const ${name(OWN_TOKENS)}: readonly ${type}[] = ${literal(tokens)};
    `,
  ];
}

/** Wraps a port's handler in a step that removes the tokens. */
export function handlerWithoutTokens(handler: Code, tokens: readonly Code[]): Code {
  if (tokens.length === 0) return handler;
  return code`${imported(MODULE, "hideOwnTokens")}(${handler}, ${name(OWN_TOKENS)})`;
}

function tokenOf<Kind extends PolicyKind>(
  { kind, settings }: PolicyUse<Kind>,
  id: string,
): Code | undefined {
  return templateOf<Kind>(kind).ownToken?.(settings, id);
}
