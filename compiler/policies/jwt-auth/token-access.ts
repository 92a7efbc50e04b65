import { type IdentityCheck, listChanges, type SettingsChange } from "../../model/access.ts";
import { shownText, type Text } from "../../model/texts.ts";
import { identityCheck, modeChange } from "../parts/identity-access.ts";

/** Who issues tokens, as far as it matters to who has one. */
interface TokenIssuer {
  readonly issuer: Text;
  readonly audiences: readonly unknown[];
  readonly requiredClaims: readonly string[];
}

/** What is known of tokens that are verified. */
interface TokenSettings {
  readonly mode: "strict" | "optional" | "permissive";
  readonly providers: readonly TokenIssuer[];
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

/** Which tokens count more or less than before. */
export function compareTokens(
  before: TokenSettings,
  after: TokenSettings,
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

/** Without audiences any will do, so the first one closes and the last one opens. */
function compareIssuer(before: TokenIssuer, after: TokenIssuer): readonly SettingsChange[] {
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
    ...audiences,
    ...listChanges(`required claim ${of}`, before.requiredClaims, after.requiredClaims, "closes"),
  ];
}

function said(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
