import { type IssuerUrlName, issuerUrls } from "../../contents/issuer-urls.ts";
import { startupError } from "../../process/startup-error.ts";

const PROVIDERS: Readonly<Record<IssuerUrlName, string>> = {
  oktaRegistration: "Okta",
  descopeKeys: "Descope",
  descopeRegistration: "Descope",
  entraKeys: "Microsoft Entra",
  entraIssuer: "Microsoft Entra",
  entraMetadata: "Microsoft Entra",
};

/** Returns a URL for an issuer of the environment. Throws StartupError if it is not an issuer of the provider. */
export function issuerUrl(name: IssuerUrlName, issuer: string): string {
  const url = URL.canParse(issuer) ? issuerUrls[name](issuer) : undefined;
  if (url === undefined)
    throw startupError(
      `the environment's issuer of mcpAuthentication is not one of ${PROVIDERS[name]}`,
    );
  return url;
}
