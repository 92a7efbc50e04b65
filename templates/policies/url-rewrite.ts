import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { hostStep } from "./host-rewrite.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/url-rewrite";

/** `urlRewrite`: one statement for Host, one for the path. */
export const urlRewriteTemplate: PolicyTemplate<"urlRewrite"> = {
  code: ({ settings: { authority, path }, origin }, { trace }) => ({
    declarations: [],
    steps: [
      [
        ...trace(origin),
        ...(authority === undefined ? [] : [authorityStep(authority)]),
        ...(path === undefined ? [] : [pathStep(path)]),
      ],
    ],
  }),
};

type Settings = PolicySettings["urlRewrite"];

function authorityStep(change: NonNullable<Settings["authority"]>): Code {
  switch (change.kind) {
    case "mode":
      return hostStep(change.value);
    case "full":
      return code`${imported(MODULE, "rewriteAuthority")}(exchange, ${literal(change.value)});`;
    case "host":
      return code`${imported(MODULE, "rewriteHost")}(exchange, ${literal(change.value)});`;
    case "port":
      return code`${imported(MODULE, "rewritePort")}(exchange, ${literal(change.value)});`;
  }
}

function pathStep(change: NonNullable<Settings["path"]>): Code {
  if (change.kind === "full") {
    return code`${imported(MODULE, "rewritePath")}(exchange, ${literal(change.value)});`;
  }
  const { prefixes, value } = change;
  return code`${imported(MODULE, "rewritePrefix")}(exchange, ${literal(prefixes)}, ${literal(value)});`;
}
