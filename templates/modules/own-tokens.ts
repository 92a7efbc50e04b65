import type { PolicyKind, PolicyUse } from "../../compiler/ir/policies.ts";
import type { Program } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { templateOf } from "../policies/index.ts";

/** The constant of `main.ts` with the gateway's own tokens. */
export const OWN_TOKENS = "ownTokens";

const MODULE = "gwc/runtime/http/own-tokens";

/** The tokens that the policies of a program give clients, as code; none for most programs. */
export function ownTokens(program: Program): readonly Code[] {
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const modules = listeners.flatMap(({ preRouting, routes }) =>
    [...routes, preRouting ?? []].flat(),
  );
  const tokens = modules.flatMap(({ id, policies }) =>
    policies.flatMap((use) => tokenOf(use, id) ?? []),
  );
  // A route may stand in several listeners, and a policy in many routes.
  return [...new Map(tokens.map((token) => [JSON.stringify(token), token])).values()];
}

/** The constant; nothing where there are none. */
export function ownTokensConstant(tokens: readonly Code[]): readonly Code[] {
  if (tokens.length === 0) return [];
  const type = importedType(MODULE, "OwnToken");
  return [
    code`
      // The gateway's own cookies and headers: no backend gets them.
      const ${name(OWN_TOKENS)}: readonly ${type}[] = ${literal(tokens)};
    `,
  ];
}

/** A port's handler, behind what takes the tokens off. */
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
