import { type IdentityCheck, listChanges, type SettingsChange } from "../../model/access.ts";
import { shownText, type Text } from "../../model/texts.ts";
import { identityCheck, modeChange } from "../parts/identity-access.ts";
import type { PublicJwk } from "./jwks.ts";
import { keySetChanges } from "./key-changes.ts";

/** A token issuer, without its keys. */
interface TokenIssuer {
  readonly issuer: Text;
  readonly audiences: readonly unknown[];
  readonly requiredClaims: readonly string[];
}

/** Settings of a policy that verifies tokens. */
interface TokenSettings<Issuer = TokenIssuer> {
  readonly mode: "strict" | "optional" | "permissive";
  readonly providers: readonly Issuer[];
}

/** A token issuer with its keys. */
interface KeyedIssuer extends TokenIssuer {
  readonly keys:
    | { readonly kind: "inline"; readonly keys: readonly PublicJwk[] }
    | { readonly kind: "remote"; readonly url: Text };
}

/** Returns a verified token as a condition of access. */
export function tokenCheck(
  mode: TokenSettings["mode"],
  providers: TokenSettings["providers"],
): IdentityCheck {
  const names = (found: TokenSettings["providers"]) => found.map(({ issuer }) => shownText(issuer));
  const check = identityCheck("jwt", mode, `a valid token of ${names(providers).join(" or ")}`);
  const open = providers.filter(({ audiences }) => audiences.length === 0);
  return open.length === 0 ? check : { ...check, anyAudience: names(open) };
}

/** Comparison of policies that verify tokens. */
export const tokenComparison = { changes: compareTokens, rest: restOfTokens };

/** Compares which tokens are accepted. */
function compareTokens(
  before: TokenSettings<KeyedIssuer>,
  after: TokenSettings<KeyedIssuer>,
): readonly SettingsChange[] {
  const names = ({ providers }: TokenSettings) => providers.map(({ issuer }) => shown(issuer));
  const ofBoth = after.providers.flatMap((provider) => {
    const old = before.providers.find(({ issuer }) => shown(issuer) === shown(provider.issuer));
    return old === undefined ? [] : compareIssuer(old, provider);
  });
  return [
    ...modeChange(before.mode, after.mode),
    ...listChanges("issuer", names(before), names(after), "opens"),
    ...ofBoth,
  ];
}

/** Returns the other settings: the token's location, and how the keys of unchanged issuers are fetched. */
function restOfTokens(
  { mode: _, providers, ...others }: TokenSettings<KeyedIssuer>,
  { providers: known }: TokenSettings<KeyedIssuer>,
): unknown {
  const both = providers.filter(({ issuer }) =>
    known.some((each) => shown(each.issuer) === shown(issuer)),
  );
  const fetched = both.map(({ issuer, keys }): readonly [string, unknown] => {
    if (keys.kind === "inline") return [shown(issuer), undefined];
    const { url: __, kind: ___, ...rest } = keys;
    return [shown(issuer), rest];
  });
  return { ...others, providers: Object.fromEntries(fetched) };
}

/** Compares the keys of an issuer. Another source of keys opens access, because anybody may hold its keys. */
function keyChanges(before: KeyedIssuer, after: KeyedIssuer): readonly SettingsChange[] {
  const issuer = shown(after.issuer);
  if (before.keys.kind === "inline" && after.keys.kind === "inline")
    return keySetChanges(issuer, before.keys.keys, after.keys.keys);
  const [old, now] = [before, after].map(({ keys }) =>
    keys.kind === "inline" ? "keys in the configuration" : `keys of ${shownText(keys.url)}`,
  );
  if (old === now) return [];
  return [{ direction: "opens", text: `tokens of ${issuer} are signed by ${now}, not by ${old}` }];
}

/**
 * Compares an issuer's audiences and claims. Without audiences any is accepted, so adding the first closes access.
 */
function compareIssuer(before: KeyedIssuer, after: KeyedIssuer): readonly SettingsChange[] {
  const [old, now] = [before.audiences.map(shown), after.audiences.map(shown)];
  const of = `of ${shown(after.issuer)}`;
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

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
