import { type IdentityCheck, listChanges, type SettingsChange } from "../../model/access.ts";
import { shownText, type Text } from "../../model/texts.ts";
import { identityCheck, modeChange } from "../parts/identity-access.ts";
import type { PublicJwk } from "./jwks.ts";
import { keySetChanges } from "./key-changes.ts";

/** Who issues tokens, as far as it matters to who has one. */
interface TokenIssuer {
  readonly issuer: Text;
  readonly audiences: readonly unknown[];
  readonly requiredClaims: readonly string[];
}

/** What is known of tokens that are verified. */
interface TokenSettings<Issuer = TokenIssuer> {
  readonly mode: "strict" | "optional" | "permissive";
  readonly providers: readonly Issuer[];
}

/** An issuer with the keys that sign its tokens. */
interface KeyedIssuer extends TokenIssuer {
  readonly keys:
    | { readonly kind: "inline"; readonly keys: readonly PublicJwk[] }
    | { readonly kind: "remote"; readonly url: Text };
}

/** A verified token, as a condition of access. */
export function tokenCheck(
  mode: TokenSettings["mode"],
  providers: TokenSettings["providers"],
): IdentityCheck {
  const names = (found: TokenSettings["providers"]) => found.map(({ issuer }) => shownText(issuer));
  const check = identityCheck("jwt", mode, `a valid token of ${names(providers).join(" or ")}`);
  const open = providers.filter(({ audiences }) => audiences.length === 0);
  return open.length === 0 ? check : { ...check, anyAudience: names(open) };
}

/** How policies that verify tokens are compared. */
export const tokenComparison = { changes: compareTokens, rest: restOfTokens };

/** Which tokens count more or less than before. */
function compareTokens(
  before: TokenSettings<KeyedIssuer>,
  after: TokenSettings<KeyedIssuer>,
): readonly SettingsChange[] {
  const names = ({ providers }: TokenSettings) => providers.map(({ issuer }) => said(issuer));
  const ofBoth = after.providers.flatMap((provider) => {
    const old = before.providers.find(({ issuer }) => said(issuer) === said(provider.issuer));
    return old === undefined ? [] : compareIssuer(old, provider);
  });
  return [
    ...modeChange(before.mode, after.mode),
    ...listChanges("issuer", names(before), names(after), "opens"),
    ...ofBoth,
  ];
}

/** Where tokens are found, and how the keys of issuers that both have are fetched. */
function restOfTokens(
  { mode: _, providers, ...others }: TokenSettings<KeyedIssuer>,
  { providers: known }: TokenSettings<KeyedIssuer>,
): unknown {
  const both = providers.filter(({ issuer }) =>
    known.some((each) => said(each.issuer) === said(issuer)),
  );
  const fetched = both.map(({ issuer, keys }): readonly [string, unknown] => {
    if (keys.kind === "inline") return [said(issuer), undefined];
    const { url: __, kind: ___, ...rest } = keys;
    return [said(issuer), rest];
  });
  return { ...others, providers: Object.fromEntries(fetched) };
}

/** Whoever has the other keys can now be anybody. */
function keyChanges(before: KeyedIssuer, after: KeyedIssuer): readonly SettingsChange[] {
  const issuer = said(after.issuer);
  if (before.keys.kind === "inline" && after.keys.kind === "inline")
    return keySetChanges(issuer, before.keys.keys, after.keys.keys);
  const [old, now] = [before, after].map(({ keys }) =>
    keys.kind === "inline" ? "keys in the configuration" : `keys of ${shownText(keys.url)}`,
  );
  if (old === now) return [];
  return [{ direction: "opens", text: `tokens of ${issuer} are signed by ${now}, not by ${old}` }];
}

/** Without audiences any will do, so the first one closes and the last one opens. */
function compareIssuer(before: KeyedIssuer, after: KeyedIssuer): readonly SettingsChange[] {
  const [old, now] = [before.audiences.map(said), after.audiences.map(said)];
  const of = `of ${said(after.issuer)}`;
  const isAny = old.length === 0 || now.length === 0;
  const audiences: readonly SettingsChange[] =
    isAny && old.length !== now.length
      ? [
          {
            direction: now.length === 0 ? "opens" : "closes",
            text: `tokens ${of} for ${now.length === 0 ? "any audience" : `${now.join(", ")} only`}`,
          },
        ]
      : listChanges(`audience ${of}`, old, now, "opens");
  return [
    ...keyChanges(before, after),
    ...audiences,
    ...listChanges(`required claim ${of}`, before.requiredClaims, after.requiredClaims, "closes"),
  ];
}

function said(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
