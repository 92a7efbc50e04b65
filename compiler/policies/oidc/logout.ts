import type { LogoutSettings } from "../../../runtime/auth/oidc/oidc-settings.ts";
import type { Text } from "../../model/texts.ts";
import { boolean, type Infer, object, text } from "../../schema/schema.ts";

/** `logout` of a login, as configured. */
export type LogoutConfig = Omit<LogoutSettings, "redirectUri"> & { readonly redirectUri?: Text };

/** Schema of `logout`, which is the same in both forms. */
export const logoutSchema = object(
  {
    path: text("Path that ends the session; the route also serves it.", {
      maxLength: 1024,
      pattern: "^/[A-Za-z0-9/._~-]*$",
      form: 'a path such as "/logout"',
    }),
    backChannelPath: text(
      "Path at which the provider announces logouts (OpenID Connect Back-Channel Logout), registered there as a URL; the route also serves it. All sessions of the user, or of the provider's session, end at all replicas. `userConnections` of the route end as well. Logouts are kept in `config.store`, or in a file below `GWC_STATE_DIR`.",
      {
        maxLength: 1024,
        pattern: "^/[A-Za-z0-9/._~-]+$",
        form: 'a path such as "/logout/provider"',
      },
    ),
    redirectURI: text(
      "URL to which the browser is sent afterwards; registered at the provider, unless `local` is set.",
      { format: "url", readAtStart: true },
    ),
    local: boolean(
      "Ends only the session at the gateway; the login at the provider stays active.",
      { default: false },
    ),
  },
  {
    required: ["path"],
    checks: [
      {
        message: '"backChannelPath" is the same as "path"',
        field: "backChannelPath",
        holds: ({ path, backChannelPath }) => path !== backChannelPath,
        cel: "!has(self.backChannelPath) || self.backChannelPath != self.path",
      },
    ],
    description:
      "Lets users log out of the gateway, and of the provider if it supports that (OpenID Connect RP-Initiated Logout). The browser's cookie is deleted. Copies of the cookie are refused by the process that handled the logout, and by all replicas with the same store (`config.store`); by others once its ID token expires.",
  },
);

/** Converts a validated `logout` to canonical form. */
export function lowerLogout({
  path,
  local = false,
  backChannelPath,
  redirectURI,
}: Infer<typeof logoutSchema>): LogoutConfig {
  return {
    path,
    isLocal: local,
    ...(backChannelPath !== undefined && { backChannelPath }),
    ...(redirectURI !== undefined && { redirectUri: redirectURI }),
  };
}
